import type { MinuteCount } from '../browse.ts'

const MINUTE_MS = 60_000
const MINUTES_KEPT = 60
const NONE = { received: 0, handled: 0, deadLettered: 0 }

/** Counts for each of the last 60 minutes. */
export class MinuteCounts {
  readonly #minutes: (typeof NONE & { startedAt: number })[] = []
  #current = { startedAt: 0, ...NONE }

  add(what: keyof typeof NONE): void {
    const now = Date.now()
    if (now >= this.#current.startedAt + MINUTE_MS) {
      this.#current = { startedAt: now - (now % MINUTE_MS), ...NONE }
      this.#minutes.push(this.#current)
      if (this.#minutes.length > MINUTES_KEPT) this.#minutes.shift()
    }
    this.#current[what]++
  }

  list(): readonly MinuteCount[] {
    const oldest = Date.now() - MINUTES_KEPT * MINUTE_MS
    return this.#minutes.filter(({ startedAt }) => startedAt > oldest).map(minute => ({ ...minute }))
  }
}
