import type { MinuteCount } from '@ackhook/core/spi'

const MINUTE_MS = 60_000
const FLUSH_MS = 2000

type Count = (minute: Required<MinuteCount>) => Promise<void>
type Counts = Record<'received' | 'handled' | 'deadLettered', number>

/**
 * Counts the events that this process accepts and handles, and adds them to all processes' counts every two seconds.
 */
export class MinuteCounter {
  readonly #count: Count
  #startedAt = 0
  #counts: Counts | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(count: Count) {
    this.#count = count
  }

  add(what: keyof Counts): void {
    const now = Date.now()
    const startedAt = now - (now % MINUTE_MS)
    if (startedAt !== this.#startedAt) void this.flush()
    this.#startedAt = startedAt
    this.#counts ??= { received: 0, handled: 0, deadLettered: 0 }
    this.#counts[what]++
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  /** Drops counts that cannot be added: they are only informative. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const [startedAt, counts] = [this.#startedAt, this.#counts]
    this.#counts = undefined
    if (counts !== undefined) await this.#count({ startedAt, ...counts }).catch(() => {})
  }
}
