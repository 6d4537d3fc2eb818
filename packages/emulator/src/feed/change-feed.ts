import { randomBytes } from 'node:crypto'

/** A change, ready to send to pages. */
export interface Notice {
  /** Increases. Every process uses ids of its own. */
  readonly id: string
  readonly event: string
  /** JSON. */
  readonly data: string
}

/** Notices after a position, or `gap` if some are no longer kept. */
export type Continuation = readonly Notice[] | 'gap'

/** Interval at which changes are sent, so that pages do not repaint more often. */
const FLUSH_MS = 100
const MAX_BATCH = 100
/** Most changes to queue. Beyond it, pages must reload. */
const MAX_WAITING = 5000
const KEPT_NOTICES = 500
const KEPT_LENGTH = 8_388_608
/** How long notices are kept for a page that may reconnect. */
const REMEMBER_MS = 60_000

/** Sends changes to listeners in batches. Costs nothing while there are none. */
export class ChangeFeed {
  readonly #epoch = randomBytes(6).toString('hex')
  readonly #viewOf: (seq: number) => object | undefined
  readonly #watching = new Set<(notice: Notice) => void>()
  readonly #changed = new Set<number>()
  #kept: Notice[] = []
  /** Total length of the kept notices, in characters. */
  #keptLength = 0
  #next = 1
  #timer: NodeJS.Timeout | undefined
  #lastWatched = 0
  #isClosed = false

  /** `viewOf` returns a delivery as lists show it. */
  constructor(viewOf: (seq: number) => object | undefined) {
    this.#viewOf = viewOf
  }

  /** Calls `listener` for each later notice, until the returned function is called. */
  watch(listener: (notice: Notice) => void): () => void {
    this.#watching.add(listener)
    return () => {
      this.#watching.delete(listener)
      this.#lastWatched = performance.now()
    }
  }

  /** Id of the latest notice or unsent change. Later notices have later ids. */
  get lastId(): string {
    return this.#idOf(this.#next - 1)
  }

  /** Returns the notices after `id`. */
  since(id: string): Continuation {
    const [epoch, number] = id.split('-')
    const seen = Number(number)
    const first = this.#next - this.#kept.length
    if (epoch !== this.#epoch || !Number.isInteger(seen) || seen >= this.#next || seen < first - 1)
      return 'gap'
    return this.#kept.slice(seen - first + 1)
  }

  deliveryChanged(seq: number): void {
    if (this.#isClosed || !this.#isWatched()) return
    this.#changed.add(seq)
    if (this.#changed.size > MAX_WAITING) {
      this.#changed.clear()
      this.publish('gap', {})
    }
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  publish(event: string, data: object): void {
    if (!this.#isWatched()) return
    const notice = { id: this.#idOf(this.#next++), event, data: JSON.stringify(data) }
    this.#kept.push(notice)
    this.#keptLength += notice.data.length
    if (this.#kept.length > KEPT_NOTICES || this.#keptLength > KEPT_LENGTH) this.#forgetHalf()
    for (const listener of this.#watching) listener(notice)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#watching.clear()
  }

  #flush(): void {
    this.#timer = undefined
    const deliveries: object[] = []
    for (const seq of this.#changed) {
      if (deliveries.length === MAX_BATCH) break
      this.#changed.delete(seq)
      const view = this.#viewOf(seq)
      if (view !== undefined) deliveries.push(view)
    }
    if (deliveries.length > 0) this.publish('deliveries', { deliveries })
    if (this.#changed.size > 0) this.#timer = setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  #forgetHalf(): void {
    while (this.#kept.length > KEPT_NOTICES / 2 || this.#keptLength > KEPT_LENGTH / 2) {
      const oldest = this.#kept.shift()
      if (oldest === undefined) return
      this.#keptLength -= oldest.data.length
    }
  }

  #isWatched(): boolean {
    if (this.#watching.size > 0) return true
    if (this.#lastWatched > 0 && performance.now() - this.#lastWatched < REMEMBER_MS) return true
    // The change is lost, so the kept notices cannot be continued.
    this.#next++
    this.#kept = []
    this.#keptLength = 0
    return false
  }

  #idOf(number: number): string {
    return `${this.#epoch}-${number}`
  }
}
