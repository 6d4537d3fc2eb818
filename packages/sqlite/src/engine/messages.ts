import type { Arrival, Batch } from '../protocol/batch.ts'
import type { BatchResult } from '../protocol/batch-result.ts'
import { type Fault, isFault } from '../protocol/fault.ts'
import type { FileNotice, LeftFile } from '../protocol/file-notice.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'

/**
 * What the application and the thread send each other. Batches and results are lists without names, and have `undefined`
 * for an empty part: each value is serialized and parsed again. perf: note 44.
 */

/** Data that a new thread starts with. */
export interface ThreadData {
  readonly path: string
  /** `false` if this process has had the file open before: leases in it may then be its own. */
  readonly isFirst: boolean
  /** Which file this process has had open before; `undefined` if none, or if the file system does not tell. */
  readonly identity: string | undefined
  /** What the last thread knew of a file that it had to give up. */
  readonly left: LeftFile | undefined
  /** True to create missing files and tables. */
  readonly create: boolean
  /** Shared memory of the `ExitGate`. */
  readonly gate: SharedArrayBuffer
}

export type ToThread =
  | BatchMessage
  | readonly [kind: 'policy', policy: StoragePolicy]
  | readonly [kind: 'close']

export type FromThread =
  | readonly [kind: 'results', results: readonly ResultMessage[]]
  | readonly [kind: 'open', identity: string | undefined]
  | readonly [kind: 'notice', notice: FileNotice]
  | readonly [kind: 'leave', left: LeftFile]
  | readonly [kind: 'failed', fault: Fault]

/** An arrival. Its body is the next `size` bytes of its message's `bytes`. */
type PackedArrival = readonly [
  key: string,
  namespace: string,
  id: string,
  type: string,
  fingerprint: number,
  receivedAt: number,
  size: number,
  orderKey: string | undefined,
  createdAt: number | undefined,
  traceparent: string | undefined,
  tracestate: string | undefined,
  group: string | undefined,
]

export type BatchMessage = readonly [
  kind: 'batch',
  id: number,
  take: number,
  readAhead: number,
  firstRef: number,
  bytes: Uint8Array<ArrayBuffer> | undefined,
  arrivals: readonly PackedArrival[] | undefined,
  settlements: Batch['settlements'] | undefined,
  checks: Batch['checks'] | undefined,
  queries: Batch['queries'] | undefined,
]

/** Writes a batch. Its bodies are in one buffer, which can be moved to the thread. */
export function writeBatch(id: number, batch: Batch): BatchMessage {
  const { take, readAhead, firstRef, arrivals, settlements, checks, queries } = batch
  return [
    'batch',
    id,
    take,
    readAhead,
    firstRef,
    bytesOf(arrivals),
    unlessEmpty(arrivals.map(packed)),
    unlessEmpty(settlements),
    unlessEmpty(checks),
    unlessEmpty(queries),
  ]
}

/** Returns the memory of a message to move to the thread: from this size on, that takes less time than copying. perf: note 44. */
export function memoryToMove([, , , , , bytes]: BatchMessage): ArrayBuffer[] {
  return bytes === undefined || bytes.length < MOVED_BYTES ? [] : [bytes.buffer]
}

const MOVED_BYTES = 16_384

/** A single body is a view of memory shared with other bodies, all of which would be copied. */
function bytesOf(arrivals: readonly Arrival[]): Uint8Array<ArrayBuffer> | undefined {
  if (arrivals.length === 0) return undefined
  const bytes = new Uint8Array(arrivals.reduce((sum, { body }) => sum + body.length, 0))
  let offset = 0
  for (const { body } of arrivals) {
    bytes.set(body, offset)
    offset += body.length
  }
  return bytes
}

function packed(arrival: Arrival): PackedArrival {
  const { key, namespace, id, type, fingerprint, receivedAt, body, order, trace, group } = arrival
  return [
    key,
    namespace,
    id,
    type,
    fingerprint,
    receivedAt,
    body.length,
    order?.key,
    order?.createdAt,
    trace?.traceparent,
    trace?.tracestate,
    group,
  ]
}

const NO_BYTES = new Uint8Array()

export function readBatch([
  ,
  ,
  take,
  readAhead,
  firstRef,
  bytes = NO_BYTES,
  packedArrivals = [],
  settlements = [],
  checks = [],
  queries = [],
]: BatchMessage): Batch {
  let offset = 0
  const arrivals = packedArrivals.map((one): Arrival => {
    const [key, namespace, id, type, fingerprint, receivedAt, size, orderKey, createdAt, ...rest] = one
    const [traceparent, tracestate, group] = rest
    const body = bytes.subarray(offset, offset + size)
    offset += size
    const order = orderKey === undefined || createdAt === undefined ? undefined : { key: orderKey, createdAt }
    const trace = traceOf(traceparent, tracestate)
    return { key, namespace, id, type, fingerprint, receivedAt, body, order, trace, group }
  })
  return { arrivals, firstRef, settlements, checks, queries, take, readAhead }
}

function traceOf(traceparent: string | undefined, tracestate: string | undefined): Arrival['trace'] {
  if (traceparent === undefined) return undefined
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

export type ResultMessage = readonly [
  id: number,
  nextDueMs: number | undefined,
  admissions: BatchResult['admissions'] | undefined,
  settled: BatchResult['settled'] | undefined,
  stillHeld: BatchResult['stillHeld'] | undefined,
  found: BatchResult['found'] | undefined,
  taken: BatchResult['taken'] | undefined,
  paused: BatchResult['paused'],
  notices: BatchResult['notices'],
]

export function writeResult(id: number, result: BatchResult): ResultMessage {
  const { nextDueMs, admissions, settled, stillHeld, found, taken, paused, notices } = result
  return [
    id,
    nextDueMs,
    unlessEmpty(admissions),
    unlessEmpty(settled),
    unlessEmpty(stillHeld),
    unlessEmpty(found),
    unlessEmpty(taken),
    paused,
    notices,
  ]
}

export function readResult([
  ,
  nextDueMs,
  admissions = [],
  settled = [],
  stillHeld = [],
  found = [],
  taken = [],
  paused,
  notices,
]: ResultMessage): BatchResult {
  return { admissions, settled, stillHeld, found, taken, nextDueMs, paused, notices }
}

function unlessEmpty<T extends readonly unknown[] | Fault>(part: T): T | undefined {
  return isFault(part) || part.length > 0 ? part : undefined
}
