import type { EmulatorClock } from './emulator-clock.ts'

/** The machine's clock may be set, and a laptop sleeps: no timer waits longer than this at a time. */
const LONGEST_SLEEP_MS = 60_000
/** Period at which a clock is read that a timer cannot follow. */
const POLL_MS = 10

/** Calls back once an instant of the clock has come. Costs nothing while none is set. */
export class Alarm {
  readonly #clock: EmulatorClock
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(clock: EmulatorClock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Replaces the instant that is set. `undefined` sets none. */
  set(at: number | undefined): void {
    // Armed anew even for the same instant: the clock may have been moved.
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
