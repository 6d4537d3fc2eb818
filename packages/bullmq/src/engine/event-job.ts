import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Delivery, SerialOrder } from '@ackhook/core'
import { traceContext } from '@ackhook/core/spi'
import type { Job, JobsOptions, Queue } from 'bullmq'
import type { ORDER } from './form.ts'

/** Part of a handled event that stays until its retention is over. */
export interface Remembered {
  /** New for every delivery. Shows whether this delivery created an existing job. */
  readonly token: string
  readonly fingerprint: number
}

/** Stored part of a delivery, besides its type (the job's name) and its key (in the job's id). */
export interface JobData extends Remembered {
  /**
   * Time for which the id is remembered after the event is handled. The receiving process sets it, not the pruning one.
   */
  readonly retentionMs: number
  readonly id: string
  readonly namespace: string
  readonly receivedAt: number
  /** Trace context of the request, if it had one. */
  readonly traceparent?: string
  readonly tracestate?: string
  /** The exact signed bytes, as text: re-serialized JSON would differ. In base64 if text cannot hold them. */
  readonly body: string
  readonly encoding?: 'base64'
}

/** A job as added to BullMQ. */
export interface NewJob {
  readonly name: string
  readonly data: JobData
  readonly opts: JobsOptions & { readonly jobId: string; readonly [ORDER]?: JobOrder | undefined }
}

/** The job's position among those of its ordering key. */
export interface JobOrder {
  readonly key: string
  /** Time at which the event was created, in milliseconds since the epoch. */
  readonly at: number
}

/** BullMQ's queue. PostgreSQL has another backend underneath, but the parts used here are the same. */
export type EventQueue = Queue<JobData, unknown, string>
export type EventJob = Job<JobData, unknown, string>

/** Name of the backoff strategy. The failure carries the delay. */
export const BACKOFF = 'ackhook'
/** BullMQ refuses ids that are all digits or contain a colon. A prefix rules out both for any key. */
const ID_PREFIX = 'e-'

export function jobIdOf(key: string): string {
  return ID_PREFIX + key
}

/** Returns the key of the event in a job with this id. `undefined` for another producer's job. */
export function keyOf(jobId: string): string | undefined {
  return jobId.startsWith(ID_PREFIX) ? jobId.slice(ID_PREFIX.length) : undefined
}

/** Fields that outlive the body come first, so that Redis finds them without parsing the rest. */
export function toJobData(delivery: Delivery, token: string, retentionMs: number): JobData {
  const { id, namespace, receivedAt, fingerprint, body, trace } = delivery
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const head = { token, fingerprint, retentionMs, id, namespace, receivedAt, ...trace }
  // PostgreSQL stores JSON, but no null character in it.
  return isUtf8(bytes) && !bytes.includes(0)
    ? { ...head, body: bytes.toString('utf8') }
    : { ...head, body: bytes.toString('base64'), encoding: 'base64' }
}

/** Hashes the key: PostgreSQL cannot index some texts, such as very long ones. */
export function toJobOrder({ key, createdAt }: SerialOrder): JobOrder {
  // UTF-8 encodes all lone surrogates alike.
  return { key: createHash('sha256').update(key, 'utf16le').digest('base64url'), at: Math.trunc(createdAt) }
}

/** A stored job, whoever added it. */
export interface StoredJob {
  readonly id?: string | undefined
  readonly name?: unknown
  readonly data?: unknown
}

/** Returns the delivery from which a job was made. `undefined` for another producer's job, or a damaged one. */
export function readDelivery({ id: jobId, name, data }: StoredJob): Delivery | undefined {
  const parts = Object(data) as Partial<JobData>
  const { id, namespace, receivedAt, fingerprint, body, encoding = 'utf8' } = parts
  const trace = traceContext(parts.traceparent, parts.tracestate)
  if (jobId?.startsWith(ID_PREFIX) !== true || typeof name !== 'string') return undefined
  if (typeof id !== 'string' || typeof namespace !== 'string' || typeof body !== 'string') return undefined
  if (typeof receivedAt !== 'number' || typeof fingerprint !== 'number') return undefined
  // A later release may have added another encoding.
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
