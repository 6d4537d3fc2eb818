import type { SqliteDatabase, SqlValue } from '@ackhook/sqlite/driver'
import type { DeliveryKind, DeliveryRow, DeliveryState } from './delivery-row.ts'
import { writeNul } from './write-nul.ts'

/** Filter of deliveries. An absent field matches any. */
export interface DeliveryFilter {
  readonly workspace?: string
  readonly category?: string
  /** A pattern, as `on()` takes it. */
  readonly type?: string
  readonly state?: DeliveryState
  readonly kind?: DeliveryKind
  /** The status of the last reply. */
  readonly status?: number
  readonly event?: string
  readonly message?: string
  /** Created at this instant or later, and before that one. */
  readonly from?: number
  readonly to?: number
  /** Part of the event, in any case; at least three characters. */
  readonly text?: string
}

export interface DeliveryPage {
  /** Newest first: those with a smaller `seq`. With `oldestFirst`: a greater one. */
  readonly after?: number
  readonly limit: number
  readonly oldestFirst?: boolean
}

/** One interval of a histogram, and what happened to the deliveries that were created in it. */
export interface BucketRow {
  readonly bucket: number
  readonly state: DeliveryState
  readonly count: number
}

/** Finds deliveries. */
export class DeliveryQuery {
  readonly #database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  page(filter: DeliveryFilter, { after, limit, oldestFirst = false }: DeliveryPage): readonly DeliveryRow[] {
    const { from, where, values, seq } = sqlOf(filter)
    const conditions = [...where]
    if (after !== undefined) {
      conditions.push(`${seq} ${oldestFirst ? '>' : '<'} ?`)
      values.push(after)
    }
    const order = `${seq} ${oldestFirst ? 'ASC' : 'DESC'}`
    const sql = `SELECT d.* FROM ${from} ${clause(conditions)} ORDER BY ${order} LIMIT ?`
    return this.#database.prepare(sql).all(...values, limit) as DeliveryRow[]
  }

  count(filter: DeliveryFilter): number {
    return this.#countOf('count(*)', filter)
  }

  exists(filter: DeliveryFilter): boolean {
    return this.page(filter, { limit: 1 }).length > 0
  }

  /** An event counts once, however often it is delivered. */
  countEvents(filter: DeliveryFilter): number {
    return this.#countOf('count(DISTINCT d.event_id)', filter)
  }

  histogram(filter: DeliveryFilter, start: number, widthMs: number): readonly BucketRow[] {
    const { from, where, values } = sqlOf(filter)
    const sql = `SELECT CAST((d.created_at - ?) / ? AS INTEGER) AS bucket, d.state AS state, count(*) AS count
      FROM ${from} ${clause(where)} GROUP BY 1, 2`
    return this.#database.prepare(sql).all(start, widthMs, ...values) as BucketRow[]
  }

  #countOf(expression: string, filter: DeliveryFilter): number {
    const { from, where, values } = sqlOf(filter)
    const row = this.#database
      .prepare(`SELECT ${expression} AS count FROM ${from} ${clause(where)}`)
      .get(...values)
    return (row as { readonly count: number }).count
  }
}

const EQUAL: readonly (readonly [keyof DeliveryFilter, column: string])[] = [
  ['workspace', 'd.workspace'],
  ['category', 'd.category'],
  ['state', 'd.state'],
  ['kind', 'd.kind'],
  ['status', 'd.last_status'],
  ['event', 'd.event_id'],
  ['message', 'd.message'],
]

interface Sql {
  readonly from: string
  readonly where: string[]
  readonly values: SqlValue[]
  /** The column of the numbers, in whose order the index is read. */
  readonly seq: string
}

function sqlOf(filter: DeliveryFilter): Sql {
  const where: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, value: SqlValue) => {
    where.push(condition)
    values.push(typeof value === 'string' ? writeNul(value) : value)
  }
  for (const [name, column] of EQUAL) {
    const value = filter[name]
    if (value !== undefined) add(`${column} = ?`, value)
  }
  if (filter.type?.endsWith('.*')) {
    // The index of categories has their order; a type may be the name of its category alone.
    add('d.category = ?', filter.type.slice(0, -2))
    where.push('d.type <> d.category')
  } else if (filter.type !== undefined && filter.type !== '*') add('d.type = ?', filter.type)
  if (filter.from !== undefined) add('d.created_at >= ?', filter.from)
  if (filter.to !== undefined) add('d.created_at < ?', filter.to)
  if (filter.text === undefined) return { from: 'deliveries d', where, values, seq: 'd.seq' }
  // Quotes make the text one phrase: the index is of trigrams, and its query language has no meaning inside them.
  const phrase = `"${filter.text.replaceAll('"', '""')}"`
  if (where.length === 0) {
    // Uses the index's order, so that it stops when the page is full.
    const from = 'delivery_text t CROSS JOIN deliveries d ON d.seq = t.rowid'
    return { from, where: ['delivery_text MATCH ?'], values: [phrase], seq: 't.rowid' }
  }
  // The other filters may leave few of the rows with the text: their index comes first, so that no row is read in vain.
  add('d.seq IN (SELECT rowid FROM delivery_text WHERE delivery_text MATCH ?)', phrase)
  return { from: 'deliveries d', where, values, seq: 'd.seq' }
}

function clause(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
