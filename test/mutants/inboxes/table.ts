import type { Delivery } from '@ackhook/core'
import type { ActivitySlot, PresenceView, PublishedHandlers } from '@ackhook/core/spi'

const TICK_MS = 15

/** One event on the server. */
export interface TableRow {
  readonly delivery: Delivery
  readonly acceptedAt: number
  state: 'waiting' | 'running' | 'done' | 'dead'
  /** End of a delay, a lease or a retention, by the server's clock. */
  until: number
  /** Changes with every attempt. */
  owner: number
  /** Number of ended attempts. */
  attempts: number
  crashes: number
  /** True from the first attempt on: the event holds its ordering key. */
  hasBegun: boolean
  isPostponed: boolean
  routingToken: number
  place: number
  failedAt: number
  reason: string
}

/** Works on the table in turns. */
export interface TableClient {
  renew(): void
  take(): void
}

/** A database server with its own clock and atomic statements. */
export class Table {
  readonly rows = new Map<string, TableRow>()
  readonly clients = new Set<TableClient>()
  /** Times of the pauses by type; `undefined` is the one of all types. */
  readonly pauses = new Map<string | undefined, number>()
  /** Figures, by length and start of their slot. */
  readonly activity = new Map<string, ActivitySlot>()
  readonly counted = { received: 0, handled: 0, deadLettered: 0 }
  readonly #published = new Map<string, PublishedHandlers & { readonly seenAt: number }>()
  readonly #timer: ReturnType<typeof setInterval>
  #numbers = 0
  /** Room for the bodies of unfinished events. */
  readonly maxBytes: number
  /** Makes every write fail. */
  isFailing = false

  constructor(maxBytes: number = Number.POSITIVE_INFINITY) {
    this.maxBytes = maxBytes
    // All processes renew before one takes an event, so that no lease lapses on a busy machine.
    this.#timer = setInterval(() => {
      for (const client of this.clients) client.renew()
      for (const client of this.clients) client.take()
    }, TICK_MS)
  }

  now(): number {
    return Date.now()
  }

  nextNumber(): number {
    this.#numbers += 1
    return this.#numbers
  }

  /** Makes one change, which other processes see completely or not at all. */
  async write<T>(change: () => T): Promise<T> {
    await new Promise(resolve => setImmediate(resolve))
    return this.writeNow(change)
  }

  writeNow<T>(change: () => T): T {
    if (this.isFailing) throw new Error('the server is read-only')
    return change()
  }

  publish(own: PublishedHandlers): void {
    this.#published.set(own.id, { ...own, seenAt: this.now() })
  }

  unpublish(id: string): void {
    this.#published.delete(id)
  }

  view(): PresenceView {
    const now = this.now()
    const kept = [...this.#published.values()].filter(({ seenAt, keepMs }) => seenAt + keepMs > now)
    return {
      processes: kept.map(({ seenAt, ...own }) => ({ ...own, seenMs: now - seenAt })),
      postponed: [...this.rows.values()].filter(row => row.isPostponed && row.state === 'waiting').length,
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
