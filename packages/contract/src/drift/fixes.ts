import { literal, literalKey } from '@ackhook/core/spi'

/** Where a fix applies. */
interface Place {
  readonly type?: string | undefined
  readonly path: string
}

export const NEW_FIELD_FIX = 'Nothing breaks, unless your schema is strict: write the types again to use it.'
export const OPTIONAL_FIX =
  "Allow it in `events` and in the handler. Until then, onInvalid: 'dead-letter' keeps events that the schema refuses."
export const VALUE_FIX = 'Handle values that are not known, and let the schema allow any string.'
export const LARGE_FIX = 'Read it from context.rawBody with a parser that keeps large numbers.'
export const NEW_TYPE_FIX =
  'Register a handler with on, or write the types again. Until then onUnhandled gets it.'

export function envelopeFix(field: string, to: string): string {
  return `contract: { fields: { ${field}: ${literal(to)} } }`
}

/** Returns an `upcast` that gives a field of `data` its old name. */
export function renameFix(at: Place, to: string): string {
  const [parent, name, ...deeper] = at.path.split('.')
  if (parent !== 'data' || name === undefined || deeper.length > 0 || name.includes('['))
    return `contract.upcast, with a function that gives ${to} its old name, ${at.path}`
  return upcastOf(at, name, `event.data[${literal(to)}]`)
}

/** Returns an `upcast` that converts a time. */
export function unitFix(at: Place): string {
  return `contract.upcast, with a function that converts ${at.path}${at.type === undefined ? '' : ` of ${at.type}`}`
}

function upcastOf({ type }: Place, name: string, value: string): string {
  const changed = `{ ...event, data: { ...event.data, ${literalKey(name)}: ${value} } }`
  const only = type === undefined ? `(${changed})` : `event.type === ${literal(type)} ? ${changed} : event`
  return `contract: { upcast: event => ${only} }`
}
