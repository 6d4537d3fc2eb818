import { describeError } from '../errors/errors.ts'
import { isError } from '../errors/is-error.ts'

/**
 * What was thrown, for a log in text: only the stack of an error, because its other properties may hold payload data. What
 * is no error is told as it converts to a text. `undefined` where nothing was.
 */
export function thrownText(fields: object): string | undefined {
  if (!('err' in fields)) return undefined
  const { err } = fields
  return isError(err) ? (err.stack ?? String(err)) : `Thrown, and not an Error: ${describeError(err)}`
}
