import { createHash } from 'node:crypto'
import { type Random, seededRandom } from '@ackhook/testing'
import type { Faults } from '@ackhook/testing/spi'
import { expandFaults, resolveEmulatorFaults } from '../lib/fault-settings.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'

/** Chooses a delivery's faults: those it was sent with, otherwise the current settings. */
export class FaultSource {
  readonly #initial: EmulatorFaults
  #options: EmulatorFaults
  #current: Faults
  readonly #changed: (options: EmulatorFaults) => void

  /** Calls `changed` when attempts have changed the settings. */
  constructor(initial: EmulatorFaults, changed: (options: EmulatorFaults) => void) {
    this.#changed = changed
    this.#initial = initial
    this.#options = expandFaults(initial)
    this.#current = resolveEmulatorFaults(initial)
  }

  get options(): EmulatorFaults {
    return this.#options
  }

  /** Throws `ConfigurationError`. */
  set(options: EmulatorFaults): void {
    this.#current = resolveEmulatorFaults(options)
    this.#options = expandFaults(options)
  }

  reset(): void {
    this.set(this.#initial)
  }

  /** Returns an attempt's faults, and counts down `answerNext` in the delivery's own faults or in the settings. */
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

/**
 * Returns the random draws of a named decision. Each name has its own stream, which no restart or concurrent work
 * changes.
 */
export function decisionRandom(seed: number, name: string): Random {
  const digest = createHash('sha256').update(`${seed}:${name}`).digest()
  return seededRandom(digest.readUInt32LE(0))
}
