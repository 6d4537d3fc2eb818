import type { LogSize } from '../storage/log-size.ts'
import type { DeliveryCounts } from './delivery-counts.ts'

interface RoomParts {
  readonly size: LogSize
  readonly counts: DeliveryCounts
  readonly maxBytes: number
}

/** Whether the log has room for more bytes. What is finished makes room: the oldest of it is removed. */
export class LogRoom {
  readonly #parts: RoomParts

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  get maxBytes(): number {
    return this.#parts.maxBytes
  }

  /** Whether something finished is to be removed. */
  get isOver(): boolean {
    const { size, counts, maxBytes } = this.#parts
    return size.bytes > maxBytes && counts.finished > 0
  }

  /** Whether `bytes` more are too many, and nothing can be removed for them. */
  isFullFor(bytes: number): boolean {
    const { size, counts, maxBytes } = this.#parts
    return size.bytes + bytes > maxBytes && counts.finished === 0
  }
}
