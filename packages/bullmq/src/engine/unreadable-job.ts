import type { Delivery } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import type { StoredJob } from './event-job.ts'

/** Holds text that is not JSON in place of a job's data. */
const RAW = 'ackhookRaw'

/** Wraps text that BullMQ cannot parse in data that it can. */
export function wrapRaw(text: string): string {
  return JSON.stringify({ [RAW]: text })
}

/** Returns the stored text of a job whose data BullMQ has parsed. */
export function rawOf(data: unknown): string {
  const raw: unknown = Object(data)[RAW]
  return typeof raw === 'string' ? raw : (JSON.stringify(data) ?? '')
}

/**
 * Presents a job that is not a delivery as one, for dead letters and `onDeadLetter`. Its id is the job's, without a
 * namespace. Its key is the one that an event with this id would have, so that the id is enough to find it.
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
  return `Job ${jobId} of queue '${queue}' cannot be read as an Ackhook delivery. Another producer added it (give the inbox a queue of its own), its data was changed or lost, or a later version wrote it.`
}
