import type { Acceptance } from '@ackhook/core/spi'
import { unavailable } from './answers.ts'
import type { PendingBatch } from './pending-batch.ts'

/** No sender waits longer than this. When its event is written later all the same, its retry is a duplicate. */
const DEADLINE_MS = 2000
const TOO_SLOW = `SQLite has not answered for ${DEADLINE_MS} ms`

/** Arrivals without a result. */
interface Watched {
  readonly arrivals: PendingBatch['arrivals']
  /** By `performance.now()`. */
  readonly deadline: number
  isLate: boolean
}

/** Refuses deliveries whose batch takes longer than their senders wait. */
export class DeadlineWatch {
  /** The oldest first. */
  readonly #watched: Watched[] = []
  /** One for all batches, which goes on when they have their results. perf: note 44. */
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Whether a batch has had no result for longer than the deadline: the disk hangs. */
  get isOverdue(): boolean {
    return this.#watched[0]?.isLate === true
  }

  /** Watches one batch. Returns what ends the watch. */
  start({ arrivals }: PendingBatch): () => void {
    if (arrivals.length === 0) return () => {}
    const watched = { arrivals, deadline: performance.now() + DEADLINE_MS, isLate: false }
    this.#watched.push(watched)
    if (this.#timer === undefined) this.#waitFor(watched)
    return () => void this.#watched.splice(this.#watched.indexOf(watched), 1)
  }

  #waitFor({ deadline }: Watched): void {
    // Nobody waits for it once all have their results.
    this.#timer = setTimeout(() => this.#refuseLate(), Math.ceil(deadline - performance.now())).unref()
  }

  #refuseLate(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const watched of this.#watched) {
      if (watched.isLate) continue
      if (watched.deadline > now) {
        this.#waitFor(watched)
        return
      }
      watched.isLate = true
      for (const { resolve } of watched.arrivals) resolve(tooSlow())
    }
  }
}

export function tooSlow(): Acceptance {
  return unavailable(new Error(TOO_SLOW))
}
