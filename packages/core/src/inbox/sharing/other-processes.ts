import type { InboxProcess, PublishedHandlers } from '../presence.ts'
import { PatternSet } from './pattern-set.ts'

/** Time without renewal after which a process has ended, or hangs: it renews its publication every 10 s. */
const LIVE_MS = 30_000

/** Process, with the time at which it was last seen by the given clock. */
interface Other {
  readonly one: PublishedHandlers
  readonly seenAt: number
}

/** Other processes on an inbox, as read from the board. */
export class OtherProcesses {
  /** Processes that run or may come back. */
  expected: readonly PublishedHandlers[] = []
  /** Processes that run. */
  live: readonly PublishedHandlers[] = []
  /** Processes by id, including those of earlier views. */
  readonly #known = new Map<string, Other>()
  #expectedSet = new PatternSet([])
  #liveSet = new PatternSet([])

  /**
   * Applies a view of the board. `ownId` identifies this process's publication. Returns whether the view contains it.
   */
  see(processes: readonly InboxProcess[], ownId: string, clock: number): boolean {
    for (const one of processes) {
      const earlier = this.#known.get(one.id)?.seenAt ?? Number.NEGATIVE_INFINITY
      this.#known.set(one.id, { one, seenAt: Math.max(earlier, clock - one.seenMs) })
    }
    const hasOwn = this.#known.delete(ownId)
    for (const [id, { one, seenAt }] of this.#known) if (clock - seenAt > one.keepMs) this.#known.delete(id)
    const known = [...this.#known.values()]
    this.expected = known.map(({ one }) => one)
    this.live = known.filter(({ seenAt }) => clock - seenAt < LIVE_MS).map(({ one }) => one)
    this.#expectedSet = new PatternSet(this.expected)
    this.#liveSet = new PatternSet(this.live)
    return hasOwn
  }

  /** Returns how specifically the best expected process handles the type, and whether a running one does so. */
  bestOf(type: string): { readonly best: number; readonly isLive: boolean } {
    const best = this.#expectedSet.rankOf(type)
    return { best, isLive: this.#liveSet.rankOf(type) >= best }
  }
}
