import type { Delivery } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { readDelivery, type StoredJob } from './event-job.ts'
import type { ListedJob } from './job-list.ts'

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

export interface ListedDelivery {
  readonly delivery: Delivery
  readonly isReadable: boolean
  /** Reason why the job failed, or why it cannot be read. */
  readonly reason: string | undefined
}

/** Job as shown on a page: its delivery, or the stored data if that is not a delivery. */
export async function deliveryOf(job: ListedJob, queueName: string): Promise<ListedDelivery> {
  const { id, name, data = '', addedAt, failedReason } = job
  const delivery = readDelivery({ id, name, data: parsed(data) })
  // BullMQ stores an empty string if there is no reason.
  const reason = failedReason || undefined
  if (delivery !== undefined) return { delivery, isReadable: true, reason }
  const shown = await unreadableDelivery({ id, name }, data, addedAt)
  return { delivery: shown, isReadable: false, reason: reason ?? unreadableReason(id, queueName) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
