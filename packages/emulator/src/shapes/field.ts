import type { Duration } from '@ackhook/core'
import type { ReplyTerm } from './reply-filter.ts'
import { object, type Schema } from './schema.ts'

/** Options that may each also be `undefined`. */
export type Maybe<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/**
 * A field of a request: `In` is what callers write, `Out` what the emulator works with. The schema holds the bounds that
 * `lib/read-fields.ts` checks, OpenAPI publishes and the command line explains.
 */
export interface Field<In = unknown, Out = In> {
  readonly kind:
    | 'text'
    | 'count'
    | 'flag'
    | 'choice'
    | 'list'
    | 'duration'
    | 'time'
    | 'pattern'
    | 'reply'
    | 'other'
  readonly schema: Schema
  /** Placeholder of its value in the command line's help. */
  readonly sign: string
  /** Largest duration, in milliseconds. */
  readonly maxMs?: number
  /** Only for the compiler. */
  readonly types?: readonly [In, Out]
}

/** The fields of a request, by name. */
export type Table = Readonly<Record<string, Field>>

/**
 * The table of a type: each of its members, and no other. Those in `AsNumber` are texts that are read as numbers, those in
 * `AsTerms` as conditions on a reply.
 */
export type TableOf<T, AsNumber extends keyof T = never, AsTerms extends keyof T = never> = {
  readonly [Name in keyof T]-?: Field<
    Exclude<T[Name], undefined>,
    Name extends AsNumber ? number : Name extends AsTerms ? readonly ReplyTerm[] : Exclude<T[Name], undefined>
  >
}

/** What is read by a table. A field that was not given is absent. */
export type Read<T extends Table> = {
  readonly [Name in keyof T]?: T[Name] extends Field<unknown, infer Out> ? Out : never
}

/** Longest text of a field that has no limit of its own. */
export const MAX_TEXT = 512
/** Longest list. */
export const MAX_LIST = 200

function described(description: string | undefined): Schema {
  return description === undefined ? {} : { description }
}

export function textField(
  description?: string,
  { sign = 'text', max = MAX_TEXT }: { readonly sign?: string; readonly max?: number } = {},
): Field<string> {
  return {
    kind: 'text',
    sign,
    schema: { type: 'string', minLength: 1, maxLength: max, ...described(description) },
  }
}

/** An id, of any form. */
export function idField(description?: string): Field<string> {
  return textField(description, { sign: 'id' })
}

/** A whole number, or its digits in a query. */
export function countField(
  description: string | undefined,
  minimum: number,
  maximum: number,
  preset?: number,
): Field<number> {
  const bounds = { minimum, maximum, ...(preset !== undefined && { default: preset }) }
  return { kind: 'count', sign: 'n', schema: { type: 'integer', ...bounds, ...described(description) } }
}

/** The place after which a list continues. */
export function cursorField(): Field<string, number> {
  const description = 'Continue after this cursor: the next of the page before'
  return { kind: 'count', sign: 'cursor', schema: { type: 'string', pattern: '^\\d{1,15}$', description } }
}

export function flagField(description?: string): Field<boolean> {
  return { kind: 'flag', sign: 'true|false', schema: { type: 'boolean', ...described(description) } }
}

export function choiceField<const T extends string>(
  choices: readonly T[],
  sign: string,
  { preset, description }: { readonly preset?: T; readonly description?: string } = {},
): Field<T> {
  return {
    ...{ kind: 'choice', sign },
    schema: {
      ...{ type: 'string', enum: choices },
      ...(preset !== undefined && { default: preset }),
      ...described(description),
    },
  }
}

/** A list of texts; `null` means all. */
export function listField(description: string): Field<readonly string[] | null> {
  const items = { type: 'string', minLength: 1, maxLength: MAX_TEXT }
  return {
    ...{ kind: 'list', sign: 'names' },
    schema: { anyOf: [{ type: 'array', maxItems: MAX_LIST, items }, { type: 'null' }], description },
  }
}

const DURATION = "A string with a unit, such as '250ms', '30s', '5m', '24h' or '7d'"

/** A duration, read as milliseconds. */
export function durationField(description: string = DURATION, maxMs?: number): Field<Duration, number> {
  return {
    ...{ kind: 'duration', sign: 'duration' },
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$', description },
    ...(maxMs !== undefined && { maxMs }),
  }
}

/** A time or an age, read as milliseconds since the epoch. */
export function timeField(description: string): Field<string, number> {
  const pattern = '^(\\d+(\\.\\d+)?(ms|s|m|h|d)|now|today|yesterday|\\d{4}-\\d\\d.*)$'
  return { kind: 'time', sign: 'time', schema: { type: 'string', pattern, description } }
}

/** A pattern as in `on()`: a type, `order.*` or `*`. */
export function patternField(description: string): Field<string> {
  return { ...textField(description, { sign: 'type' }), kind: 'pattern' }
}

/** Conditions on a reply. */
export function replyField(description: string): Field<string | number, readonly ReplyTerm[]> {
  const schema = { type: ['string', 'integer'], minLength: 1, maxLength: MAX_TEXT, description }
  return { kind: 'reply', sign: 'status', schema }
}

/** A field that a reader of its own checks. */
export function otherField<In>(schema: Schema): Field<In> {
  return { kind: 'other', sign: 'json', schema }
}

/** Describes a request with these fields, of which only `required` ones must be given. */
export function request(table: Table, ...required: readonly string[]): Schema {
  const properties = Object.fromEntries(Object.entries(table).map(([name, { schema }]) => [name, schema]))
  return object(
    properties,
    Object.keys(table).filter(name => !required.includes(name)),
  )
}
