import { ConfigurationError } from '@ackhook/core'

/** Databases that the statements of this package are written for. `mysql` stands for MariaDB too. */
export type Dialect = 'postgres' | 'mysql' | 'sqlite'

export const DIALECTS: readonly Dialect[] = ['postgres', 'mysql', 'sqlite']

export type Row = Readonly<Record<string, unknown>>

/** Result of a statement: its rows, and how many it has changed. */
export interface Result {
  readonly rows: readonly Row[]
  readonly affected: number
}

/** Runs one statement, with `?` for each parameter in every dialect. */
export type Query = (text: string, params: readonly unknown[]) => Promise<Result>

/** How strictly transactions are kept apart. */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

export const ISOLATIONS: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']

/** Returns the statement with PostgreSQL's placeholders. None of our statements has a question mark in a literal. */
export function numbered(text: string): string {
  let count = 0
  return text.replace(/\?/g, () => `$${++count}`)
}

const LITERALS = {
  postgres: (hex: string) => `convert_from(decode('${hex}', 'hex'), 'UTF8')`,
  mysql: (hex: string) => `X'${hex}'`,
} as const

/** Returns the statement without placeholders, so that several can go together. Its texts are in hexadecimal. */
export function inlined(text: string, params: readonly string[], dialect: keyof typeof LITERALS): string {
  let index = 0
  return text.replace(/\?/g, () => LITERALS[dialect](Buffer.from(params[index++] ?? '').toString('hex')))
}

/** Returns whether a statement returns rows: some libraries run the others by another method. */
export function returnsRows(text: string): boolean {
  return /^\s*(?:\/\*.*?\*\/\s*)?select|\breturning\b/i.test(text)
}

/** Returns the rows and the count in what a driver or an ORM replied. */
export function toResult(reply: unknown): Result {
  const { rows, affected } = Array.isArray(reply) ? ofArray(reply) : ofObject(reply)
  if (Number.isSafeInteger(affected)) return { rows, affected }
  throw unreadable('the number of changed rows', affected)
}

function ofObject(reply: unknown): Result {
  const { rows, rowCount, affectedRows, rowsAffected, numAffectedRows, changes } = Object(reply) as Partial<
    Record<string, unknown>
  >
  const affected = rowCount ?? affectedRows ?? rowsAffected ?? numAffectedRows ?? changes
  if (Array.isArray(rows)) return { rows, affected: Number(affected ?? rows.length) }
  if (affected !== undefined) return { rows: [], affected: Number(affected) }
  throw unreadable('the reply', reply)
}

function ofArray(reply: readonly unknown[]): Result {
  const [first] = reply
  // Of mysql2: `[rows, fields]` or `[header, fields]`.
  if (Array.isArray(first)) return { rows: first, affected: first.length }
  const { affectedRows } = Object(first) as { readonly affectedRows?: unknown }
  if (typeof affectedRows === 'number') return { rows: [], affected: affectedRows }
  return { rows: [...reply] as Result['rows'], affected: reply.length }
}

/** Reads a whole number from a row. Throws for anything else: a reply that cannot be read must not pass for one. */
export function wholeNumber(row: Row, column: string): number {
  const value = row[column]
  const isText = typeof value === 'string' && /^-?\d+$/.test(value)
  const number = isText || typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw unreadable(`'${column}', a whole number,`, value)
}

/** Reads a whole number that may be NULL. */
export function wholeNumberOrNull(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : wholeNumber(row, column)
}

/** Reads a text from a row, as `wholeNumber` reads a number. */
export function textIn(row: Row, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw unreadable(`'${column}', a text,`, value)
}

function unreadable(what: string, value: unknown): ConfigurationError {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
  return new ConfigurationError(
    'db',
    `replies so that @ackhook/sql cannot read it: ${what} came as ${kind}. Leave out the pool's settings, plugins and type parsers that change rows, such as rowsAsArray, nestTables, typeCast or a parser of integers, or pass a pool of its own`,
  )
}
