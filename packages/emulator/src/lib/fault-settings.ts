import { ConfigurationError } from '@ackhook/core'
import { type FaultOptions, type Faults, resolveFaults } from '@ackhook/testing/spi'

/** Checks faults. Throws `ConfigurationError`. */
export function resolveEmulatorFaults(options: FaultOptions): Faults {
  if (options !== null && typeof options === 'object' && 'rotation' in options) {
    throw new ConfigurationError('faults.rotation', 'is a call here: rotate the secret of the endpoint')
  }
  return resolveFaults(options)
}
