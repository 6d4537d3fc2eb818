import type { Delivery } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import type { StoredJob } from './event-job.ts'

/** Holds text that is no JSON in the place of a job's data. */
const RAW = 'ackhookRaw'

/** Data that BullMQ can parse, from text that it cannot. */
export function wrapRaw(text: string): string {
  return JSON.stringify({ [RAW]: text })
}

/** The stored text of a job whose data BullMQ has parsed. */
export function rawOf(data: unknown): string {
  const raw: unknown = Object(data)[RAW]
  return typeof raw === 'string' ? raw : (JSON.stringify(data) ?? '')
}

/**
 * A job that is no delivery, in the form of one: dead letters and `onDeadLetter` show it so. Its id is the job's, without a
 * namespace, and its key the one that such an event would have, so that whoever knows the id finds it.
 */
export async function unreadableDelivery(
  { id = '', name }: StoredJob,
  raw: string,
  receivedAt: number,
): Promise<Delivery> {
  const key = await eventKey('', id)
  const type = typeof name === 'string' ? name : ''
  return { key, namespace: '', id, type, body: Buffer.from(raw), fingerprint: 0, receivedAt }
}

export function unreadableReason(jobId: string, queue: string): string {
  return `Job ${jobId} of queue '${queue}' cannot be read as a delivery of Ackhook. Another producer added it (give the inbox a queue of its own), its data was changed or lost, or a later version wrote it.`
}
