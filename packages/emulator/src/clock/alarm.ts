import type { EmulatorClock } from './emulator-clock.ts'

/** Longest timer: the machine's clock may be set, and a laptop may sleep. */
const LONGEST_SLEEP_MS = 60_000
/** Polling interval for a clock that timers cannot follow. */
const POLL_MS = 10

/** Calls back when the clock reaches an instant. Costs nothing while none is set. */
export class Alarm {
  readonly #clock: EmulatorClock
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(clock: EmulatorClock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Replaces the instant; `undefined` clears it. */
  set(at: number | undefined): void {
    // The timer is renewed even for the same instant: the clock may have moved.
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (at !== undefined) this.#sleep(at)
  }

  #sleep(at: number): void {
    const left = Math.max(0, at - this.#clock.now())
    const ms = this.#clock.isReal ? Math.min(left, LONGEST_SLEEP_MS) : POLL_MS
    this.#timer = setTimeout(() => this.#wake(at), ms)
    this.#timer.unref()
  }

  #wake(at: number): void {
    this.#timer = undefined
    if (this.#clock.now() < at) {
      this.#sleep(at)
      return
    }
    this.#ring()
  }
}
