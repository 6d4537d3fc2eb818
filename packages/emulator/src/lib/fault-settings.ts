import { ConfigurationError } from '@ackhook/core'
import { refuseUnknownNames } from '@ackhook/core/spi'
import { type FaultOptions, type Faults, resolveFaults } from '@ackhook/testing/spi'
import { type Maybe, withoutUndefined } from './read-fields.ts'

const NAMES = [
  ...['duplicate', 'concurrentDuplicate', 'disorder', 'delay', 'lostReply'],
  ...['tamper', 'staleTimestamp', 'staleBy', 'frozenTimestamp', 'answer', 'answerChance', 'answerNext'],
]

/** Checks faults. Throws `ConfigurationError`. */
export function resolveEmulatorFaults(options: Maybe<FaultOptions>): Faults {
  if (options !== null && typeof options === 'object' && 'rotation' in options) {
    throw new ConfigurationError(
      'faults.rotation',
      "is not a fault of the emulator: rotate the endpoint's secret instead",
    )
  }
  refuseUnknownNames(options, NAMES, 'faults')
  return resolveFaults(withoutUndefined(options))
}
