import { type AcceptResult, afterArrivals, createTimeouts } from '@ackhook/core/spi'
import { unavailable } from './answers.ts'
import type { PendingBatch } from './pending-batch.ts'

/** Longest wait of a sender. If its event is written later after all, its retry is a duplicate. */
const DEADLINE_MS = 2000
const TOO_SLOW = `SQLite has not responded for ${DEADLINE_MS} ms`

/** Refuses deliveries whose batch takes longer than their senders wait. */
export class DeadlineWatch {
  /** One timer for all batches. perf: notes 17, 44. */
  readonly #timeouts = createTimeouts(DEADLINE_MS)
  #overdue = 0

  /** True if a batch has had no result for longer than the deadline: the disk hangs. */
  get isOverdue(): boolean {
    return this.#overdue > 0
  }

  /** Watches one batch. Returns a function that ends the watch. */
  start({ arrivals }: PendingBatch): () => void {
    if (arrivals.length === 0) return () => {}
    let [isLate, hasEnded] = [false, false]
    const judge = (): void => {
      if (hasEnded) return
      isLate = true
      this.#overdue++
      for (const { resolve } of arrivals) resolve(tooSlow())
    }
    const timeout = this.#timeouts.set(() => afterArrivals(judge))
    return () => {
      timeout.cancel()
      hasEnded = true
      if (isLate) this.#overdue--
    }
  }
}

export function tooSlow(): AcceptResult {
  return unavailable(new Error(TOO_SLOW))
}
