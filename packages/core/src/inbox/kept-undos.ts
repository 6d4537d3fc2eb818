import { letProcessEnd } from '../lib/let-process-end.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'

/** Undos kept. Beyond that the oldest goes: its lease ends first. */
const MOST = 10_000
/** Undos run at a time, once one has succeeded. */
const AT_ONCE = 100
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000

interface Undo {
  readonly run: () => MaybePromise<boolean>
  /** Monotonic milliseconds after which nothing is left to undo. */
  readonly endsAt: number
}

/**
 * Undoes what was done for a caller who was told of a failure, such as a claim that was applied too late: otherwise its lease
 * keeps each repetition away until it ends. What caused it usually fails the first undo too, so each is kept, and tried
 * again until it succeeds or its lease is over.
 */
export class KeptUndos {
  readonly #kept = new Set<Undo>()
  #isRunning = false

  /**
   * Runs the undo soon. It resolves to `false` if there is nothing to undo yet, and is then tried again too: what is to be undone
   * may still be on its way. It may fail, and must not hang.
   */
  add(run: () => MaybePromise<boolean>, leaseMs: number): void {
    const [oldest] = this.#kept
    if (oldest !== undefined && this.#kept.size >= MOST) this.#kept.delete(oldest)
    this.#kept.add({ run, endsAt: performance.now() + leaseMs })
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    for (let pauseMs = 0; this.#kept.size > 0; pauseMs = this.#next(pauseMs)) {
      await pause(pauseMs)
      await this.#tryAll()
    }
    this.#isRunning = false
  }

  #next(pauseMs: number): number {
    return Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS)
  }

  /** Stops at the first failure: the others would most likely fail too. */
  async #tryAll(): Promise<void> {
    const now = performance.now()
    for (const undo of this.#kept) if (undo.endsAt <= now) this.#kept.delete(undo)
    const all = [...this.#kept]
    for (let at = 0; at < all.length; at += at === 0 ? 1 : AT_ONCE) {
      const tried = await Promise.all(all.slice(at, at === 0 ? 1 : at + AT_ONCE).map(undo => this.#try(undo)))
      if (tried.includes('failed')) return
    }
  }

  async #try(undo: Undo): Promise<'tried' | 'failed'> {
    try {
      if (await undo.run()) this.#kept.delete(undo)
      return 'tried'
    } catch {
      // Kept: the next round tries it again.
      return 'failed'
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => letProcessEnd(setTimeout(resolve, ms)))
}
