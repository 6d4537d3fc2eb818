import type { Faults } from '@ackhook/testing/spi'
import { resolveEmulatorFaults } from '../lib/fault-settings.ts'
import type { EmulatorFaults } from '../options/emulator-options.ts'

/** Which faults a delivery gets: those it was sent with, otherwise those that are set. */
export class FaultSource {
  readonly #initial: EmulatorFaults
  #options: EmulatorFaults
  #current: Faults

  constructor(initial: EmulatorFaults) {
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

  of(own: string | null): Faults {
    return own === null ? this.#current : resolveEmulatorFaults(JSON.parse(own) as EmulatorFaults)
  }
}
