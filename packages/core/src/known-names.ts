import { ConfigurationError } from './errors.ts'

/** Throws for a name that is no option: a misspelt one would be ignored without a word. */
export function refuseUnknownNames(options: object, known: readonly string[], prefix = ''): void {
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown === undefined) return
  throw new ConfigurationError(`${prefix}${unknown}`, `is no option; the options are ${known.join(', ')}`)
}
