import { ConfigurationError } from '@ackhook/core'
import { refuseUnknownNames } from '@ackhook/core/spi'
import { type Faults, resolveFaults } from '@ackhook/testing/spi'
import { type EmulatorFaults, FAULTS, PRESETS } from '../shapes/faults.ts'
import { withoutUndefined } from './read-fields.ts'

/** Checks faults, and adds defaults. Throws `ConfigurationError`. */
export function resolveEmulatorFaults(options: EmulatorFaults): Faults {
  return resolveFaults(withoutUndefined(expandFaults(options)))
}

/** Replaces a preset by its faults, to which those named beside it are added. Throws `ConfigurationError`. */
export function expandFaults(options: EmulatorFaults): Omit<EmulatorFaults, 'preset'> {
  if (options !== null && typeof options === 'object' && 'rotation' in options) {
    throw new ConfigurationError(
      'faults.rotation',
      "is not a fault of the emulator: rotate the endpoint's secret instead",
    )
  }
  refuseUnknownNames(options, Object.keys(FAULTS), 'faults')
  const { preset, ...faults } = options
  if (preset === undefined) return faults
  if (Object.hasOwn(PRESETS, preset)) return { ...PRESETS[preset].faults, ...withoutUndefined(faults) }
  throw new ConfigurationError('faults.preset', `must be one of ${Object.keys(PRESETS).join(', ')}`)
}
