import type { Delivery } from '@ackhook/core'
import { readDelivery } from './event-job.ts'
import type { ListedJob } from './job-list.ts'
import { unreadableDelivery, unreadableReason } from './unreadable-job.ts'

export interface ListedDelivery {
  readonly delivery: Delivery
  readonly isReadable: boolean
  /** Reason why the job failed, or why it cannot be read. */
  readonly reason: string | undefined
}

/** Job as shown on a page: its delivery, or the stored data if that is not a delivery. */
export async function deliveryOf(job: ListedJob, queueName: string): Promise<ListedDelivery> {
  const { id, name, data = '', addedAt, failedReason, queue = queueName } = job
  const delivery = readDelivery({ id, name, data: parsed(data) })
  // BullMQ stores an empty string if there is no reason.
  const reason = failedReason || undefined
  if (delivery !== undefined) return { delivery, isReadable: true, reason }
  const shown = await unreadableDelivery({ id, name }, data, addedAt)
  return { delivery: shown, isReadable: false, reason: reason ?? unreadableReason(id, queue) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
