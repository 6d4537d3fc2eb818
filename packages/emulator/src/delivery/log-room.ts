import type { LogSize } from '../storage/log-size.ts'
import type { DeliveryCounts } from './delivery-counts.ts'

interface RoomParts {
  readonly size: LogSize
  readonly counts: DeliveryCounts
  readonly maxBytes: number
}

/** Decides whether the log has room. The oldest finished deliveries are removed to make room. */
export class LogRoom {
  readonly #parts: RoomParts

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  get maxBytes(): number {
    return this.#parts.maxBytes
  }

  /** `true` if finished deliveries must be removed. */
  get isOver(): boolean {
    const { size, counts, maxBytes } = this.#parts
    return size.bytes > maxBytes && counts.finished > 0
  }

  /** Returns whether `bytes` more exceed the limit, with no finished delivery left to remove. */
  isFullFor(bytes: number): boolean {
    const { size, counts, maxBytes } = this.#parts
    return size.bytes + bytes > maxBytes && counts.finished === 0
  }
}
