import { describeError } from '../errors/errors.ts'
import { isError } from '../errors/is-error.ts'
import { printable } from '../lib/printable.ts'

/**
 * Formats a thrown value for a text log: only an error's stack, because its other properties may hold payload data. Any
 * other value is converted to text. `undefined` if nothing was thrown. Escapes control characters, because an error's
 * text may quote an event.
 */
export function thrownText(fields: object): string | undefined {
  if (!('err' in fields)) return undefined
  const { err } = fields
  const text = isError(err) ? String(err.stack ?? err) : `Thrown, but not an Error: ${describeError(err)}`
  return text.split('\n').map(printable).join('\n')
}
