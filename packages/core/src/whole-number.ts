import { ConfigurationError } from './errors.ts'

/** The value of an option that counts something. Throws {@link ConfigurationError} outside of `min` to `max`. */
export function wholeNumber(option: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new ConfigurationError(option, `must be a whole number from ${min} to ${max}; got ${String(value)}`)
}
