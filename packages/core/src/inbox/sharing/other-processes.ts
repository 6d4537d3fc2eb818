import type { InboxProcess, PublishedHandlers } from '../presence.ts'
import { PatternSet } from './pattern-set.ts'

/** A process renews what it has published every 10 s. One that has missed two of them has ended, or hangs. */
const LIVE_MS = 30_000

/** `seenAt`: by the given clock. */
interface Other {
  readonly one: PublishedHandlers
  readonly seenAt: number
}

/** The other processes on an inbox, as the board has shown them. */
export class OtherProcesses {
  /** Processes that run or may come back. */
  expected: readonly PublishedHandlers[] = []
  /** Processes that run. */
  live: readonly PublishedHandlers[] = []
  /** Processes by id, including those of earlier views. */
  readonly #known = new Map<string, Other>()
  #expectedSet = new PatternSet([])
  #liveSet = new PatternSet([])

  /** A view of the board. `ownId`: the publication that is not another's. Whether the view has it. */
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
