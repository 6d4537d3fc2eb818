import { misconfigured } from './client-error.ts'

/** Throws if `value` is not an object, or has an unknown name. `more`: text about other objects' names. */
export function refuseUnknownNames(what: string, value: unknown, known: readonly string[], more = ''): void {
  const list = known.join(', ')
  if (typeof value !== 'object' || value === null) throw misconfigured(what, `must be an object with ${list}`)
  const unknown = Object.keys(value).find(name => !known.includes(name))
  if (unknown !== undefined) throw misconfigured(unknown, `does not exist; the ${what} are ${list}${more}`)
}
