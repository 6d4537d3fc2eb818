import { ConfigurationError } from '@ackhook/core'

/** Refuses what a misspelt constant or a missing argument leaves of a type. `call` is how it is written. */
export function checkType(type: unknown, call: string): void {
  if (typeof type === 'string' && type !== '') return
  throw new ConfigurationError('type', `must be the type of an event, a string: write ${call}`)
}
