import type { MinuteCount } from '@ackhook/core/spi'

const MINUTE_MS = 60_000
const FLUSH_MS = 2000

type Count = (minute: MinuteCount) => Promise<void>

/** Counts what this process handles, and adds it to the counts of all processes every two seconds. */
export class MinuteCounter {
  readonly #count: Count
  #startedAt = 0
  #handled = 0
  #deadLettered = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(count: Count) {
    this.#count = count
  }

  add(what: 'handled' | 'deadLettered'): void {
    const now = Date.now()
    const startedAt = now - (now % MINUTE_MS)
    if (startedAt !== this.#startedAt) void this.flush()
    this.#startedAt = startedAt
    if (what === 'handled') this.#handled++
    else this.#deadLettered++
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  /** What cannot be added is lost: these are figures for people. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const minute = { startedAt: this.#startedAt, handled: this.#handled, deadLettered: this.#deadLettered }
    this.#handled = this.#deadLettered = 0
    if (minute.handled + minute.deadLettered > 0) await this.#count(minute).catch(() => {})
  }
}
