import type { InboxStats } from '@ackhook/core'
import { until } from '../../support/until.ts'
import type { ReceiverProcess } from './receiver-process.ts'

/** Waits until the receiver has handled, or given up on, all accepted events. */
export async function nothingIsLeft(receiver: ReceiverProcess, timeoutMs?: number): Promise<void> {
  const isEmpty = async () => {
    const { pending, active } = await receiver.ask<InboxStats>('stats')
    return pending + active === 0
  }
  await until('nothing is left', isEmpty, timeoutMs)
}
