import type { EmulatorClock } from '../clock/emulator-clock.ts'
import type { RetentionLimits } from '../storage/retention.ts'
import type { Storage } from '../storage/storage.ts'
import type { DeliveryCounts, LogRoom } from './log-room.ts'

const EVERY_MS = 60_000

export interface HousekeepingParts {
  readonly storage: Storage
  readonly clock: EmulatorClock
  readonly counts: DeliveryCounts
  readonly limits: RetentionLimits
  readonly room: LogRoom
  /** Called with the error of a failed step, which is retried later. */
  readonly failed: (error: unknown) => void
}

/** Keeps the log within its limits, step by step. */
export class Housekeeping {
  readonly #parts: HousekeepingParts
  readonly #timer: NodeJS.Timeout
  #next: NodeJS.Immediate | undefined

  constructor(parts: HousekeepingParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#prune(), EVERY_MS).unref()
  }

  /** Prunes soon if the log exceeds its limits. Call it after deliveries change. */
  run(): void {
    const { counts, limits, room } = this.#parts
    if (counts.finished > limits.deliveries || room.isOver) this.#next ??= setImmediate(() => this.#prune())
  }

  close(): void {
    clearInterval(this.#timer)
    clearImmediate(this.#next)
  }

  #prune(): void {
    this.#next = undefined
    const { storage, clock, counts, limits, failed } = this.#parts
    try {
      const removed = storage.transaction(() => storage.retention.prune(counts.finished, limits, clock.now()))
      for (const { state } of removed) counts.add(state, -1)
      if (removed.length > 0) this.#next ??= setImmediate(() => this.#prune())
    } catch (error) {
      failed(error)
    }
  }
}
