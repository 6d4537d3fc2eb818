import { ConfigurationError, type EventSchemas } from '@ackhook/core'
import type { ObservedContract } from '../record/observed-contract.ts'
import { KIND, kindOf, NUMBERS, STRINGS } from '../shape/kinds.ts'
import { ANY_KEY } from '../shape/names.ts'
import { DEEPEST } from '../shape/room.ts'
import { Shape } from '../shape/shape.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** Part of a schema that follows Standard JSON Schema, as zod's do since 4.2. */
interface Convertible {
  readonly '~standard': {
    readonly jsonSchema?: { input(options: { readonly target: string }): JsonSchema }
  }
}

/** Returns what schemas declare. Throws `ConfigurationError` for one without a JSON Schema. */
export function declared(schemas: EventSchemas): ObservedContract {
  const types = new Map(
    Object.entries(schemas).map(([type, schema]) => [type, envelopeOf(jsonSchemaOf(type, schema))] as const),
  )
  return { types, signatures: [] }
}

function jsonSchemaOf(type: string, schema: unknown): JsonSchema {
  try {
    const json = (schema as Convertible)['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
    if (json !== undefined) return json
  } catch (cause) {
    throw new ConfigurationError(`events['${type}']`, `has no JSON Schema: ${(cause as Error).message}`)
  }
  throw new ConfigurationError(
    `events['${type}']`,
    'has no JSON Schema: use zod 4.2 or later, arktype, or toStandardJsonSchema of @valibot/to-json-schema',
  )
}

function envelopeOf(json: JsonSchema): Shape {
  const event = new Shape()
  event.kinds = KIND.object
  event.objects = 1
  for (const name of ['id', 'type', 'created_at', 'data']) {
    const field = event.fieldOf(name)
    field.seen = 1
    if (name === 'data') new Reader(json).read(json, field)
    else {
      field.kinds = STRINGS
      open(field)
    }
  }
  event.settle()
  return event
}

const KINDS: Readonly<Record<string, number>> = {
  null: KIND.null,
  boolean: KIND.boolean,
  string: STRINGS,
  number: NUMBERS & ~KIND.large,
  integer: NUMBERS & ~KIND.large,
  array: KIND.array,
  object: KIND.object,
}

/** Reads the parts of JSON Schema that schema libraries write. Anything else allows any value. */
class Reader {
  readonly #root: JsonSchema

  constructor(root: JsonSchema) {
    this.#root = root
  }

  /** A schema may refer to itself, so its depth has an end. */
  read(schema: unknown, into: Shape = new Shape(), depth = 0): Shape {
    if (typeof schema !== 'object' || schema === null || depth > DEEPEST) return anything(into)
    const json = schema as JsonSchema
    if (typeof json['$ref'] === 'string') return this.read(this.#find(json['$ref']), into, depth + 1)
    const choices = [json['anyOf'], json['oneOf']].flatMap(listOf)
    const parts = listOf(json['allOf'])
    for (const part of [...choices, ...parts]) this.read(part, into, depth + 1)
    // Unlike a choice, each part applies.
    if (parts.length > 0) into.objects = Math.min(into.objects, 1)
    if ('const' in json) readValues([json['const']], into)
    else if (Array.isArray(json['enum'])) readValues(json['enum'], into)
    else if (json['type'] !== undefined) this.#readKinds(json, into, depth)
    else if (choices.length + parts.length === 0) anything(into)
    into.settle()
    return into
  }

  #readKinds(json: JsonSchema, into: Shape, depth: number): void {
    let kinds = 0
    for (const name of [json['type']].flat()) kinds |= KINDS[String(name)] ?? 0
    if (json['format'] === 'date-time') kinds = (kinds & ~STRINGS) | KIND.time
    if ((kinds & STRINGS) !== 0) open(into)
    into.kinds |= kinds
    if (json['items'] !== undefined) this.read(json['items'], into.itemsOf(), depth + 1)
    if ((kinds & KIND.object) === 0) return
    into.objects++
    for (const [name, field] of Object.entries(Object(json['properties']))) {
      this.read(field, into.fieldOf(name), depth + 1)
      if (listOf(json['required']).includes(name)) into.fieldOf(name).seen++
    }
    const others = json['additionalProperties']
    if (typeof others === 'object') this.read(others, into.fieldOf(ANY_KEY), depth + 1)
  }

  #find(reference: string): unknown {
    const path = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
    return path.reduce<unknown>((at, name) => Object(at)[name], this.#root)
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Any text is allowed, whatever another choice says. */
function open(into: Shape): void {
  into.values = undefined
  into.isClosed = false
  into.staysClosed = false
}

function anything(into: Shape): Shape {
  into.isAny = true
  return into
}

function readValues(values: readonly unknown[], into: Shape): void {
  const isOpen = into.values === undefined
  for (const value of values) {
    into.kinds |= kindOf(value)
    if (typeof value === 'string') into.values?.set(value, 1)
  }
  into.isClosed = !isOpen && into.values !== undefined && into.values.size > 0
  into.staysClosed = into.isClosed
}
