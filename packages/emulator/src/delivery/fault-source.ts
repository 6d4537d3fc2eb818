import { createHash } from 'node:crypto'
import { type Random, seededRandom } from '@ackhook/testing'
import { Alarm, type EmulatorClock } from '../clock/emulator-clock.ts'
import { expandFaults, type ResolvedFaults, resolveEmulatorFaults } from '../lib/fault-settings.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'

/** Chooses a delivery's faults: those it was sent with, otherwise the current settings. */
export class FaultSource {
  readonly #initial: EmulatorFaults
  #options: EmulatorFaults
  #current: ResolvedFaults
  readonly #changed: (options: EmulatorFaults) => void
  readonly #clock: EmulatorClock
  /** Ends the time in which events are dropped. */
  readonly #dawn: Alarm
  #darkUntil: number | undefined

  /** Calls `changed` when attempts or the time have changed the settings. */
  constructor(initial: EmulatorFaults, clock: EmulatorClock, changed: (options: EmulatorFaults) => void) {
    this.#changed = changed
    this.#clock = clock
    this.#initial = initial
    this.#options = expandFaults(initial)
    this.#current = resolveEmulatorFaults(initial)
    this.#dawn = new Alarm(clock, () => this.#endDark())
    this.#beginDark()
  }

  get options(): EmulatorFaults {
    this.#endDarkInTime()
    return this.#options
  }

  /** Throws `ConfigurationError`. */
  set(options: EmulatorFaults): void {
    this.#apply(options)
    this.#beginDark()
  }

  close(): void {
    this.#dawn.set(undefined)
  }

  reset(): void {
    this.set(this.#initial)
  }

  /** Returns an attempt's faults, and counts down `answerNext` in the delivery's own faults or in the settings. */
  forAttempt(own: string | null, number: number): ResolvedFaults {
    const faults = this.of(own)
    if (own !== null) return number > faults.answerNext ? { ...faults, answer: undefined } : faults
    if (faults.answer !== undefined && Number.isFinite(faults.answerNext))
      this.#countDown(faults.answerNext - 1)
    return faults
  }

  #countDown(left: number): void {
    const { answer, answerChance, answerNext, ...others } = this.#options
    this.#apply(left > 0 ? { ...this.#options, answerNext: left } : others)
    this.#changed(this.#options)
  }

  #apply(options: EmulatorFaults): void {
    this.#current = resolveEmulatorFaults(options)
    this.#options = expandFaults(options)
  }

  #beginDark(): void {
    const { darkForMs } = this.#current
    this.#darkUntil = darkForMs === undefined ? undefined : this.#clock.now() + darkForMs
    this.#dawn.set(this.#darkUntil)
  }

  #endDark(): void {
    const { dark, darkFor, ...others } = this.#options
    this.#darkUntil = undefined
    this.#apply(others)
    this.#changed(this.#options)
  }

  /** A clock may be moved past the end before the alarm rings. */
  #endDarkInTime(): void {
    if (this.#darkUntil !== undefined && this.#clock.now() >= this.#darkUntil) this.#endDark()
  }

  of(own: string | null): ResolvedFaults {
    this.#endDarkInTime()
    return own === null ? this.#current : resolveEmulatorFaults(JSON.parse(own) as EmulatorFaults)
  }
}

/**
 * Returns the random draws of a named decision. Each name has its own stream, which no restart or concurrent work
 * changes.
 */
export function decisionRandom(seed: number, name: string): Random {
  const digest = createHash('sha256').update(`${seed}:${name}`).digest()
  return seededRandom(digest.readUInt32LE(0))
}
