import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, requirePattern } from '@ackhook/core/spi'
import { type EmulatorError, invalid } from '../errors/emulator-error.ts'
import { readInstant } from './time.ts'

/** Options that may each also be `undefined`. */
export type Maybe<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

const MAX_TEXT = 512

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

export function textField(fields: Fields, name: string, maxLength: number = MAX_TEXT): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value !== '' && value.length <= maxLength) return value
  throw invalid(name, `must be a string of 1 to ${maxLength} characters`)
}

export function booleanField(fields: Fields, name: string): boolean | undefined {
  const value = fields[name]
  if (value === undefined || typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw invalid(name, 'must be true or false')
}

/** Reads a whole number, or its text from a query string. */
export function countField(fields: Fields, name: string, min: number, max: number): number | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof count === 'number' && Number.isInteger(count) && count >= min && count <= max) return count
  throw invalid(name, `must be a whole number from ${min} to ${max}`)
}

export function choiceField<T extends string>(
  fields: Fields,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  if (choices.includes(value as T)) return value as T
  throw invalid(name, `must be one of ${choices.join(', ')}`)
}

/** Reads a list of strings; `null` means all. */
export function listField(fields: Fields, name: string): readonly string[] | null | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return value
  if (
    Array.isArray(value) &&
    value.length <= 200 &&
    value.every(one => typeof one === 'string' && one !== '' && one.length <= MAX_TEXT)
  ) {
    return [...new Set(value as string[])]
  }
  throw invalid(
    name,
    `must be a list of at most 200 strings of at most ${MAX_TEXT} characters, or null for all`,
  )
}

export function durationField(fields: Fields, name: string, maxMs: number): number | undefined {
  const value = fields[name]
  return value === undefined
    ? undefined
    : asRequest(() => durationMs(value as Duration, { option: name, minMs: 0, maxMs }))
}

/** Reads a time as milliseconds. */
export function instantField(fields: Fields, name: string, now: number): number | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  const ms = typeof value === 'string' ? readInstant(value, now) : undefined
  if (ms !== undefined) return ms
  throw invalid(name, "must be a time, such as '24h' (ago), 'today', 'yesterday' or '2026-03-01T12:00:00Z'")
}

/** Reads a pattern of `on()`: a type, `order.*` or `*`. */
export function patternField(fields: Fields, name: string): string | undefined {
  const value = textField(fields, name)
  if (value !== undefined) asRequest(() => requirePattern(name, value))
  return value
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
