/** Databases that the statements of this package are written for. `mysql` stands for MariaDB too. */
export type Dialect = 'postgres' | 'mysql' | 'sqlite'

export const DIALECTS: readonly Dialect[] = ['postgres', 'mysql', 'sqlite']

/** Result of a statement: its rows, and how many it has changed. */
export interface Result {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
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

/** Returns whether a statement returns rows: some libraries run the others by another method. */
export function returnsRows(text: string): boolean {
  return /^\s*select|\breturning\b/i.test(text)
}

/** Returns the rows and the count in what a driver or an ORM replied. */
export function toResult(reply: unknown): Result {
  if (Array.isArray(reply)) return ofArray(reply)
  const { rows, rowCount, affectedRows, rowsAffected, numAffectedRows, changes } = Object(reply) as Partial<
    Record<string, unknown>
  >
  const affected = rowCount ?? affectedRows ?? rowsAffected ?? numAffectedRows ?? changes
  if (Array.isArray(rows)) return { rows, affected: Number(affected ?? rows.length) }
  if (affected !== undefined) return { rows: [], affected: Number(affected) }
  throw new TypeError('@ackhook/sql cannot read the reply of this database library')
}

function ofArray(reply: readonly unknown[]): Result {
  const [first, second] = reply
  // Of mysql2: `[rows, fields]` or `[header, fields]`; of TypeORM on PostgreSQL: `[rows, count]`.
  if (Array.isArray(first)) {
    return { rows: first, affected: typeof second === 'number' ? second : first.length }
  }
  const { affectedRows } = Object(first) as { readonly affectedRows?: unknown }
  if (typeof affectedRows === 'number') return { rows: [], affected: affectedRows }
  const { count } = reply as { readonly count?: unknown }
  return { rows: [...reply] as Result['rows'], affected: Number(count ?? reply.length) }
}
