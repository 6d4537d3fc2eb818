import type { Delivery } from '@ackhook/core'
import { readDelivery } from './event-job.ts'
import type { ListedJob } from './job-list.ts'
import { unreadableDelivery, unreadableReason } from './unreadable-job.ts'

export interface ListedDelivery {
  readonly delivery: Delivery
  readonly isReadable: boolean
  /** Why it failed, or cannot be read. */
  readonly reason: string | undefined
}

/** What a page shows of a job: its delivery, or what is stored in the place of one. */
export async function deliveryOf(job: ListedJob, queueName: string): Promise<ListedDelivery> {
  const { id, name, data = '', addedAt, failedReason, queue = queueName } = job
  const delivery = readDelivery({ id, name, data: parsed(data) })
  // BullMQ stores an empty reason where there is none.
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
