import { ConfigurationError } from '@ackhook/core'

/** The value of an option that counts something. Throws `ConfigurationError` for anything else. */
export function wholeNumber(option: string, value: number, from = 1): number {
  if (Number.isInteger(value) && value >= from) return value
  throw new ConfigurationError(option, `must be a whole number from ${from}; got ${String(value)}`)
}
