/** The time of the emulator, in milliseconds since the epoch. */
export class EmulatorClock {
  readonly #base: () => number
  /** Setter of a fake clock, the only way to move it. */
  readonly #set: ((instant: number) => void) | undefined
  #offsetMs: number

  constructor(base: () => number, offsetMs = 0) {
    this.#base = base
    this.#set =
      'set' in base && typeof base.set === 'function' ? (base.set as (at: number) => void) : undefined
    this.#offsetMs = offsetMs
  }

  now(): number {
    return Math.floor(this.#base() + this.#offsetMs)
  }

  /** `true` if this clock follows the machine's, so that timers work. */
  get isReal(): boolean {
    return this.#base === Date.now
  }

  /** Lead over the base clock. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /** Moves forward to an instant. An instant in the past changes nothing. */
  moveTo(instant: number): void {
    const now = this.now()
    if (instant <= now) return
    if (this.#set !== undefined) this.#set(instant - this.#offsetMs)
    else this.#offsetMs += instant - now
  }

  /** Returns to the base clock's time. */
  reset(): void {
    this.#offsetMs = 0
  }
}

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
