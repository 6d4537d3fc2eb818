import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Delivery, SerialOrder } from '@ackhook/core'
import { traceContext } from '@ackhook/core/spi'
import type { Job, JobsOptions, Queue } from 'bullmq'

/** Part of a handled event that stays until its retention is over. */
export interface Remembered {
  /** New for every delivery: shows whether an existing job was made from this one. */
  readonly token: string
  readonly fingerprint: number
}

/** Stored part of a delivery, besides its type (the job's name) and its key (in the job's id). */
export interface JobData extends Remembered {
  /** Time for which the id is remembered once the event is handled: set by the receiving process, not by the one that prunes. */
  readonly retentionMs: number
  readonly id: string
  readonly namespace: string
  readonly receivedAt: number
  /** Trace context of the request. Absent without a trace, and in jobs of releases that kept none. */
  readonly traceparent?: string
  readonly tracestate?: string
  /** The exact bytes that were signed, as text: re-serialized JSON would differ. In base64 if text cannot hold them. */
  readonly body: string
  readonly encoding?: 'base64'
}

/** A job as BullMQ adds it. */
export interface NewJob {
  readonly name: string
  readonly data: JobData
  readonly opts: JobsOptions & { readonly jobId: string; readonly ackhookOrder?: JobOrder | undefined }
}

/** The place of a job among those of its ordering key. */
export interface JobOrder {
  readonly key: string
  /** Time at which the event was created, in milliseconds since the epoch. */
  readonly at: number
}

/** BullMQ's queue. PostgreSQL has another backend underneath; this package uses nothing that differs. */
export type EventQueue = Queue<JobData, unknown, string>
export type EventJob = Job<JobData, unknown, string>

/** Name of the backoff strategy: the delay comes with the failure. */
export const BACKOFF = 'ackhook'
/** BullMQ refuses ids of digits only and ids with a colon: a prefix rules out both for any key. */
const ID_PREFIX = 'e-'

export function jobIdOf(key: string): string {
  return ID_PREFIX + key
}

/** Fields that outlive the body come first, so that Redis finds them without parsing the rest. */
export function toJobData(delivery: Delivery, token: string, retentionMs: number): JobData {
  const { id, namespace, receivedAt, fingerprint, body, trace } = delivery
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const head = { token, fingerprint, retentionMs, id, namespace, receivedAt, ...trace }
  // PostgreSQL stores JSON, but no zero character in it.
  return isUtf8(bytes) && !bytes.includes(0)
    ? { ...head, body: bytes.toString('utf8') }
    : { ...head, body: bytes.toString('base64'), encoding: 'base64' }
}

/** A hash of the key: PostgreSQL stores neither every text nor any length of it in an index. */
export function toJobOrder({ key, createdAt }: SerialOrder): JobOrder {
  // UTF-8 has the same bytes for all that is not a character.
  return { key: createHash('sha256').update(key, 'utf16le').digest('base64url'), at: Math.trunc(createdAt) }
}

/** A job as it is stored, whoever added it. */
export interface StoredJob {
  readonly id?: string | undefined
  readonly name?: unknown
  readonly data?: unknown
}

/** Returns the delivery that a job was made from. `undefined` for another producer's job, or a damaged one. */
export function readDelivery({ id: jobId, name, data }: StoredJob): Delivery | undefined {
  const parts = Object(data) as Partial<JobData>
  const { id, namespace, receivedAt, fingerprint, body, encoding = 'utf8' } = parts
  const trace = traceContext(parts.traceparent, parts.tracestate)
  if (jobId?.startsWith(ID_PREFIX) !== true || typeof name !== 'string') return undefined
  if (typeof id !== 'string' || typeof namespace !== 'string' || typeof body !== 'string') return undefined
  if (typeof receivedAt !== 'number' || typeof fingerprint !== 'number') return undefined
  // A later version may have another one.
  if (encoding !== 'utf8' && encoding !== 'base64') return undefined
  const bytes = Buffer.from(body, encoding)
  return {
    key: jobId.slice(ID_PREFIX.length),
    namespace,
    id,
    type: name,
    body: bytes,
    fingerprint,
    receivedAt,
    ...(trace && { trace }),
  }
}
