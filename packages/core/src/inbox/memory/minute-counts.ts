import type { MinuteCount } from '../browse.ts'

const MINUTE_MS = 60_000
const KEPT = 60

/** What happened in each of the last 60 minutes. */
export class MinuteCounts {
  readonly #minutes: { startedAt: number; handled: number; deadLettered: number }[] = []
  #endsAt = 0

  add(what: 'handled' | 'deadLettered'): void {
    const now = Date.now()
    if (now >= this.#endsAt) this.#begin(now - (now % MINUTE_MS))
    const current = this.#minutes.at(-1)
    if (current !== undefined) current[what]++
  }

  list(): readonly MinuteCount[] {
    const oldest = Date.now() - KEPT * MINUTE_MS
    return this.#minutes.filter(({ startedAt }) => startedAt > oldest).map(minute => ({ ...minute }))
  }

  #begin(startedAt: number): void {
    this.#endsAt = startedAt + MINUTE_MS
    this.#minutes.push({ startedAt, handled: 0, deadLettered: 0 })
    if (this.#minutes.length > KEPT) this.#minutes.shift()
  }
}
