import { ConfigurationError } from '@ackhook/core'

/** Refuses a type that a misspelled constant or a missing argument made `undefined`. `call` is the call as written. */
export function checkType(type: unknown, call: string): void {
  if (typeof type === 'string' && type !== '') return
  throw new ConfigurationError('type', `must be an event type, a string: write ${call}`)
}
