import { isUtf8 } from 'node:buffer'
import { ConfigurationError, type Delivery } from '@ackhook/core'
import type { Job, JobsOptions, Queue } from 'bullmq'

/** What stays of an event that was handled, until its retention is over. */
export interface Remembered {
  /** New for every delivery: shows whether an existing job was made from this one. */
  readonly token: string
  readonly fingerprint: number
}

/** What is stored of a delivery, besides its type (the job's name) and its key (in the job's id). */
export interface JobData extends Remembered {
  /** How long the id is remembered after the event was handled: the receiving process decides, and not the one that prunes. */
  readonly retentionMs: number
  readonly id: string
  readonly namespace: string
  readonly receivedAt: number
  /** The exact bytes that were signed, as text: re-serialized JSON would differ. In base64 where text cannot hold them. */
  readonly body: string
  readonly encoding?: 'base64'
}

/** A job as BullMQ adds it. */
export interface NewJob {
  readonly name: string
  readonly data: JobData
  readonly opts: JobsOptions & { readonly jobId: string }
}

/** On PostgreSQL the queue has another backend underneath; nothing in this package uses what differs. */
export type EventQueue = Queue<JobData, unknown, string>
export type EventJob = Job<JobData, unknown, string>

/** Name of the backoff strategy: the delay comes with the failure. */
export const BACKOFF = 'ackhook'
/** BullMQ refuses ids of digits only and ids with a colon: a prefix rules out both for any key. */
const ID_PREFIX = 'e-'

export function jobIdOf(key: string): string {
  return ID_PREFIX + key
}

/** What outlives the body comes first, so that it is found on Redis without parsing the rest. */
export function toJobData(delivery: Delivery, token: string, retentionMs: number): JobData {
  const { id, namespace, receivedAt, fingerprint, body } = delivery
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const head = { token, fingerprint, retentionMs, id, namespace, receivedAt }
  // PostgreSQL stores JSON, but no zero character in it.
  return isUtf8(bytes) && !bytes.includes(0)
    ? { ...head, body: bytes.toString('utf8') }
    : { ...head, body: bytes.toString('base64'), encoding: 'base64' }
}

/** Throws for a job that another producer added to the queue. */
export function toDelivery(
  job: Pick<EventJob, 'name' | 'data' | 'queueName'> & { readonly id?: string | undefined },
): Delivery {
  const { id, namespace, receivedAt, fingerprint, body, encoding } = job.data ?? {}
  if (typeof id !== 'string' || typeof body !== 'string' || job.id?.startsWith(ID_PREFIX) !== true) {
    throw new ConfigurationError(
      'queue',
      `job ${job.id} of queue '${job.queueName}' is not an Ackhook delivery; give the inbox a queue of its own`,
    )
  }
  const key = job.id.slice(ID_PREFIX.length)
  const bytes = Buffer.from(body, encoding ?? 'utf8')
  return { key, namespace, id, type: job.name, body: bytes, fingerprint, receivedAt }
}
