import { AckhookError, ConfigurationError } from '@ackhook/core'
import type { Fault } from '../storage/fault.ts'

/** The error of this library for a fault of the storage. `option` is what the user gave: `path` or `database`. */
export function toError(fault: Fault, option: string, name: string): AckhookError {
  const message = `${name}: ${fault.message}`
  if (fault.kind === 'configuration') return new ConfigurationError(option, message)
  return new AckhookError('inbox_unavailable', message)
}
