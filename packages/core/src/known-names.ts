import { ConfigurationError } from './errors.ts'

/**
 * Throws for what is no object, which would leave every default in place without a word, and for a name that is no
 * option, which would be ignored. `option` is the one that holds these; none for the options themselves.
 */
export function refuseUnknownNames(options: object, known: readonly string[], option = ''): void {
  const list = known.join(', ')
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(option || 'options', `must be an object with ${list}`)
  }
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown === undefined) return
  throw new ConfigurationError(`${option && `${option}.`}${unknown}`, `is no option; the options are ${list}`)
}
