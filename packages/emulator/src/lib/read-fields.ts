import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, requirePattern } from '@ackhook/core/spi'
import { type EmulatorError, invalid } from '../errors/emulator-error.ts'
import { type Field, MAX_LIST, MAX_TEXT, type Read, type Table } from '../shapes/field.ts'
import { readReplyTerms } from '../shapes/reply-filter.ts'
import { readInstant } from './time.ts'

/** Maximum number of conditions on a reply. */
const MAX_TERMS = 20

/** An unchecked JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns the value as an object, which may have only `known` fields. Throws an `EmulatorError` naming the field. */
export function fieldsOf(value: unknown, known: readonly string[], where = 'the body'): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(where, `must be an object with ${known.join(', ')}`)
  }
  const unknown = Object.keys(value).find(name => !known.includes(name))
  if (unknown !== undefined) throw invalid(unknown, `is not a known field: use ${known.join(', ')}`)
  return value as Fields
}

/**
 * Reads an object that may have only the fields of its table. `where` names it in refusals; ages are relative to `now`.
 * Throws an `EmulatorError` that names the field.
 */
export function readAll<T extends Table>(table: T, value: unknown, where?: string, now = 0): Read<T> {
  return readKnown(table, fieldsOf(value, Object.keys(table), where), now)
}

/** Reads the fields of a table, and ignores all others. */
export function readKnown<T extends Table>(table: T, fields: Fields, now = 0): Read<T> {
  const entries = Object.entries(table).flatMap(([name, field]) => {
    const value = fields[name]
    const isAbsent = value === undefined || (value === null && field.kind === 'text')
    return isAbsent ? [] : [[name, readField(field, name, value, now)]]
  })
  return Object.fromEntries(entries)
}

/** Reads a value as its field describes it. */
function readField(field: Field, name: string, value: unknown, now: number): unknown {
  const { kind, schema, maxMs = Number.MAX_SAFE_INTEGER } = field
  const {
    minimum = 0,
    maximum = Number.MAX_SAFE_INTEGER,
    maxLength = MAX_TEXT,
    enum: choices = [],
  } = schema as {
    readonly minimum?: number
    readonly maximum?: number
    readonly maxLength?: number
    readonly enum?: readonly unknown[]
  }
  switch (kind) {
    case 'text':
    case 'pattern': {
      if (!isText(value, maxLength)) throw invalid(name, `must be a string of 1 to ${maxLength} characters`)
      if (kind === 'pattern') asRequest(() => requirePattern(name, value))
      return value
    }
    case 'count': {
      const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
      if (Number.isInteger(count) && Number(count) >= minimum && Number(count) <= maximum) return count
      throw invalid(name, `must be a whole number from ${minimum} to ${maximum}`)
    }
    case 'flag':
      if (typeof value === 'boolean') return value
      if (value === 'true' || value === 'false') return value === 'true'
      throw invalid(name, 'must be true or false')
    case 'choice':
      if (choices.includes(value)) return value
      throw invalid(name, `must be one of ${choices.join(', ')}`)
    case 'list':
      return readList(name, value)
    case 'duration':
      return asRequest(() => durationMs(value as Duration, { option: name, minMs: 0, maxMs }))
    case 'time':
      return readTime(name, value, now)
    case 'reply': {
      const text = typeof value === 'number' ? String(value) : value
      const terms = isText(text, maxLength) ? readReplyTerms(text) : []
      if (terms.length > 0 && terms.length <= MAX_TERMS) return terms
      throw invalid(name, 'must be a status, such as 500, 5xx, >=500 or 500,502, or part of an error')
    }
    case 'other':
      return value
  }
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength
}

/** Reads a list of strings; `null` means all. */
function readList(name: string, value: unknown): readonly string[] | null {
  if (value === null) return null
  if (Array.isArray(value) && value.length <= MAX_LIST && value.every(one => isText(one, MAX_TEXT)))
    return [...new Set(value as string[])]
  throw invalid(
    name,
    `must be a list of at most ${MAX_LIST} strings of at most ${MAX_TEXT} characters, or null for all`,
  )
}

/** Reads a time as milliseconds. */
function readTime(name: string, value: unknown, now: number): number {
  const ms = typeof value === 'string' ? readInstant(value, now) : undefined
  if (ms !== undefined) return ms
  throw invalid(name, "must be a time, such as '24h' (ago), 'today', 'yesterday' or '2026-03-01T12:00:00Z'")
}

/** Runs a check shared with options, and turns its error into a refusal that names the field. */
export function asRequest<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw error instanceof ConfigurationError ? refusalOf(error) : error
  }
}

function refusalOf({ option, message }: ConfigurationError): EmulatorError {
  return invalid(option, message.replace(/^Option '[^']*': /, ''))
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Removes members that are `undefined`. */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>
}
