/** The time of the emulator, in milliseconds since the epoch. */
export class EmulatorClock {
  readonly #base: () => number
  /** Setter of a fake clock, which moves only by this. */
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

  /** `true` if it follows the machine's clock, so that a timer can wait for an instant. */
  get isReal(): boolean {
    return this.#base === Date.now
  }

  /** Lead over the clock it was made with. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /** Moves forward to an instant. One in the past leaves the clock unchanged. */
  moveTo(instant: number): void {
    const now = this.now()
    if (instant <= now) return
    if (this.#set !== undefined) this.#set(instant - this.#offsetMs)
    else this.#offsetMs += instant - now
  }

  /** Back to the clock it was made with. */
  reset(): void {
    this.#offsetMs = 0
  }
}
