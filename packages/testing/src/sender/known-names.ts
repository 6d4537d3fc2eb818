import { ConfigurationError } from '@ackhook/core'

/** Throws for what is no object and for a name that is no option: either would leave a default in place without a word. */
export function refuseUnknownNames(options: object, known: readonly string[], option = ''): void {
  const list = known.join(', ')
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(option || 'options', `must be an object with ${list}`)
  }
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown === undefined) return
  throw new ConfigurationError(`${option && `${option}.`}${unknown}`, `is no option; the options are ${list}`)
}
