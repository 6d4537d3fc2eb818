import type { Batch } from '../protocol/batch.ts'
import { unlessEmpty } from './unless-empty.ts'

/**
 * A batch as sent to the thread: its parts without names, and `undefined` for an empty list. Each value is serialized and
 * parsed again. perf: note 44.
 */
export type BatchMessage = readonly [
  kind: 'batch',
  id: number,
  take: number,
  readAhead: number,
  bytes: Uint8Array,
  arrivals: Batch['arrivals'] | undefined,
  settlements: Batch['settlements'] | undefined,
  checks: Batch['checks'] | undefined,
  queries: Batch['queries'] | undefined,
]

export function writeBatch(id: number, batch: Batch): BatchMessage {
  const { take, readAhead, bytes, arrivals, settlements, checks, queries } = batch
  return [
    'batch',
    id,
    take,
    readAhead,
    bytes,
    unlessEmpty(arrivals),
    unlessEmpty(settlements),
    unlessEmpty(checks),
    unlessEmpty(queries),
  ]
}

export function readBatch([
  ,
  ,
  take,
  readAhead,
  bytes,
  arrivals = [],
  settlements = [],
  checks = [],
  queries = [],
]: BatchMessage): Batch {
  return { arrivals, bytes, settlements, checks, queries, take, readAhead }
}
