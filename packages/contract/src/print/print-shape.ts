import { KIND, NUMBERS, STRINGS } from '../shape/kinds.ts'
import { ANY_KEY } from '../shape/names.ts'
import type { Shape } from '../shape/shape.ts'
import type { Dialect } from './dialects.ts'

/** Prints a shape. The same shape gives the same text, whatever the order in which its fields were seen. */
export function printShape(shape: Shape, dialect: Dialect): string {
  const { kinds } = shape
  if (kinds === KIND.null || kinds === 0) return dialect.unknown
  const types = [
    ...((kinds & STRINGS) === 0 ? [] : [printText(shape, dialect)]),
    ...((kinds & NUMBERS) === 0 ? [] : [dialect.number]),
    ...((kinds & KIND.boolean) === 0 ? [] : [dialect.boolean]),
    ...((kinds & KIND.array) === 0 ? [] : [printItems(shape, dialect)]),
    ...((kinds & KIND.object) === 0 ? [] : [printObject(shape, dialect)]),
    ...((kinds & KIND.null) === 0 ? [] : [dialect.null]),
  ]
  return types.length === 1 ? (types[0] as string) : dialect.union(types)
}

function printText({ values, isClosed, kinds }: Shape, dialect: Dialect): string {
  const isSet = isClosed && values !== undefined && (kinds & KIND.time) === 0
  return isSet ? dialect.values([...values.keys()].sort()) : dialect.string
}

function printItems({ items }: Shape, dialect: Dialect): string {
  return dialect.array(items === undefined ? dialect.unknown : printShape(items, dialect))
}

function printObject(shape: Shape, dialect: Dialect): string {
  if (shape.fields.size === 0) return dialect.record(dialect.unknown)
  const any = shape.fields.get(ANY_KEY)
  if (any !== undefined && shape.fields.size === 1) return dialect.record(printShape(any, dialect))
  const names = [...shape.fields.keys()].filter(name => name !== ANY_KEY).sort()
  const fields = names.map(name => {
    const field = shape.fields.get(name) as Shape
    const type = printShape(field, dialect)
    return dialect.field({ name, type, isOptional: !shape.isRequired(name), note: noteOf(field) })
  })
  return dialect.object(fields, any !== undefined)
}

/** Tells what no type says. */
function noteOf({ kinds, values, isClosed }: Shape): string | undefined {
  if ((kinds & KIND.large) !== 0) return 'Beyond 2^53, where JSON.parse rounds: read `context.rawBody`.'
  if ((kinds & NUMBERS) === KIND.seconds) return 'Seconds since the epoch.'
  if ((kinds & NUMBERS) === KIND.milliseconds) return 'Milliseconds since the epoch.'
  if ((kinds & STRINGS) === KIND.time) return 'A time in ISO 8601.'
  if (kinds === KIND.null) return 'Only null so far.'
  if (isClosed && values !== undefined)
    return `So far: ${[...values.keys()].sort().join(', ').replaceAll('*/', '')}.`
  return undefined
}
