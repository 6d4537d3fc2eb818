import { ConfigurationError } from '@ackhook/core'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import { type Faults, resolveFaults } from '@ackhook/testing/spi'
import { type EmulatorFaults, FAULTS, PRESETS } from '../shapes/faults.ts'
import { withoutUndefined } from './read-fields.ts'

/** Faults with every default filled in. */
export interface ResolvedFaults extends Faults {
  /** Chance that a new event is dropped. */
  readonly dark: number
  /** How long events are dropped; undefined until the faults change. */
  readonly darkForMs: number | undefined
}

const YEAR_MS = 365 * 86_400_000

/** Checks faults, and adds defaults. Throws `ConfigurationError`. */
export function resolveEmulatorFaults(options: EmulatorFaults): ResolvedFaults {
  const { dark = 0, darkFor, ...faults } = expandFaults(options)
  const chance = Number(dark)
  if (!(chance >= 0 && chance <= 1))
    throw new ConfigurationError(
      'faults.dark',
      `must be true, false or a chance from 0 to 1; got ${String(dark)}`,
    )
  if (darkFor !== undefined && chance === 0)
    throw new ConfigurationError('faults.dark', 'is missing: true, or a chance such as 0.5')
  const darkForMs = darkFor && durationMs(darkFor, { option: 'faults.darkFor', minMs: 1, maxMs: YEAR_MS })
  return { ...resolveFaults(withoutUndefined(faults)), dark: chance, darkForMs }
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
