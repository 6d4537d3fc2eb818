import type { Arrival, Batch } from '../src/protocol/batch.ts'
import type { StoragePolicy } from '../src/protocol/storage-policy.ts'

/** Terms for tests of the storage. */
export const TERMS: StoragePolicy = {
  capacity: 10_000,
  leaseMs: 10_000,
  minDelayMs: 10,
  maxDelayMs: 50,
  factor: 2,
  concurrency: 16,
  groups: undefined,
}

/** A batch to which a test adds its parts. */
export const NOTHING: Batch = {
  arrivals: [],
  firstRef: 1,
  settlements: [],
  checks: [],
  queries: [],
  take: 0,
  readAhead: 0,
}

export function arrival(index: number, parts: Partial<Arrival> = {}): Arrival {
  return {
    key: `key${index}`,
    namespace: '',
    id: `evt_${index}`,
    type: 'a.b',
    fingerprint: 1,
    receivedAt: 0,
    body: new Uint8Array(),
    ...parts,
  }
}
