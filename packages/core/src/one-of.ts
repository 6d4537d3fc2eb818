import { ConfigurationError } from './errors.ts'

/** The value of an option that is one of a few texts. Throws {@link ConfigurationError} for any other. */
export function oneOf<T extends string>(option: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value
  const list = allowed.map(one => `'${one}'`).join(' or ')
  throw new ConfigurationError(option, `must be ${list}; got '${String(value)}'`)
}
