import type { Faults } from '@ackhook/testing/spi'
import { resolveEmulatorFaults } from '../lib/fault-settings.ts'
import type { EmulatorFaults } from '../options/emulator-options.ts'

/** Chooses the faults of a delivery: those it was sent with, or else those that are set. */
export class FaultSource {
  readonly #initial: EmulatorFaults
  #options: EmulatorFaults
  #current: Faults
  readonly #changed: (options: EmulatorFaults) => void

  /** `changed` is called when attempts have changed the settings. */
  constructor(initial: EmulatorFaults, changed: (options: EmulatorFaults) => void) {
    this.#changed = changed
    this.#initial = initial
    this.#options = initial
    this.#current = resolveEmulatorFaults(initial)
  }

  get options(): EmulatorFaults {
    return this.#options
  }

  /** Throws `ConfigurationError`. */
  set(options: EmulatorFaults): void {
    this.#current = resolveEmulatorFaults(options)
    this.#options = options
  }

  reset(): void {
    this.set(this.#initial)
  }

  /** Returns one attempt's faults, and counts down `answerNext`: of the delivery's own faults, or of those that are set. */
  forAttempt(own: string | null, number: number): Faults {
    const faults = this.of(own)
    if (own !== null) return number > faults.answerNext ? { ...faults, answer: undefined } : faults
    if (faults.answer !== undefined && Number.isFinite(faults.answerNext))
      this.#countDown(faults.answerNext - 1)
    return faults
  }

  #countDown(left: number): void {
    const { answer, answerChance, answerNext, ...others } = this.#options
    this.set(left > 0 ? { ...this.#options, answerNext: left } : others)
    this.#changed(this.#options)
  }

  of(own: string | null): Faults {
    return own === null ? this.#current : resolveEmulatorFaults(JSON.parse(own) as EmulatorFaults)
  }
}
