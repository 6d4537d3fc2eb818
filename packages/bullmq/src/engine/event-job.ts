import { isUtf8 } from 'node:buffer'
import { ConfigurationError, type Delivery } from '@ackhook/core'
import type { Job, JobsOptions, Queue } from 'bullmq'

/** What is kept of a delivery beside its type, which is the name of the job, and its key, which is in the id. */
export interface JobData {
  readonly id: string
  readonly namespace: string
  readonly receivedAt: number
  readonly fingerprint: number
  /** The exact bytes that were signed, as text: parsed JSON is not them. In base64 where text cannot hold them. */
  readonly body: string
  readonly encoding?: 'base64'
  /** New for every delivery: whether a job that is already there came of this one. */
  readonly token: string
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

const PREFIX = 'e-'

/** BullMQ refuses ids of digits only and ids with a colon: a prefix rules out both for any key. */
export function jobIdOf(key: string): string {
  return PREFIX + key
}

export function toJobData(delivery: Delivery, token: string): JobData {
  const { id, namespace, receivedAt, fingerprint, body } = delivery
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // PostgreSQL keeps JSON, but no zero character in it.
  return isUtf8(bytes) && !bytes.includes(0)
    ? { id, namespace, receivedAt, fingerprint, token, body: bytes.toString('utf8') }
    : { id, namespace, receivedAt, fingerprint, token, body: bytes.toString('base64'), encoding: 'base64' }
}

/** Throws for a job that somebody else added to the queue. */
export function toDelivery(job: EventJob): Delivery {
  const { id, namespace, receivedAt, fingerprint, body, encoding } = job.data ?? {}
  if (typeof id !== 'string' || typeof body !== 'string' || job.id?.startsWith(PREFIX) !== true) {
    throw new ConfigurationError(
      'queue',
      `job ${job.id} of queue '${job.queueName}' is no delivery; give the inbox a queue of its own`,
    )
  }
  const key = job.id.slice(PREFIX.length)
  const bytes = Buffer.from(body, encoding ?? 'utf8')
  return { key, namespace, id, type: job.name, body: bytes, fingerprint, receivedAt }
}

/** Unique for every delivery of every process. */
export function createTokens(): () => string {
  const process = crypto.randomUUID().slice(0, 13)
  let count = 0
  return () => `${process}.${(count++).toString(36)}`
}
