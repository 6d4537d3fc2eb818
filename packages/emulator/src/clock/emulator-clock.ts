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
