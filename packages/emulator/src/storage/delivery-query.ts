import type { SqliteDatabase, SqlValue } from '@ackhook/sqlite/driver'
import type { ReplyTerm } from '../shapes/reply-filter.ts'
import type { DeliveryKind, DeliveryMark, DeliveryState } from '../shapes/requests.ts'
import type { DeliveryRow } from './delivery-row.ts'

/** Filter for deliveries. An omitted field matches any. */
export interface DeliveryFilter {
  readonly workspace?: string
  readonly category?: string
  /** Type, or pattern as in `on()`. */
  readonly type?: string
  readonly state?: DeliveryState
  readonly kind?: DeliveryKind
  readonly mark?: DeliveryMark
  /** Conditions on the last reply, one of which must be met. */
  readonly status?: readonly ReplyTerm[]
  /** Last reply as lists show it. */
  readonly reply?: string
  readonly event?: string
  readonly message?: string
  readonly batch?: string
  /** Start of the creation time, inclusive; `to` is exclusive. */
  readonly from?: number
  readonly to?: number
  /** Latest end, inclusive. Deliveries that have not ended match too. */
  readonly endedBy?: number
  /** Part of the event, ignoring case; at least three characters. */
  readonly text?: string
}

export interface DeliveryPage {
  /** Continues after this `seq`: with smaller ones, or with larger ones if `oldestFirst`. */
  readonly after?: number
  readonly limit: number
  readonly oldestFirst?: boolean
}

/** Number of deliveries in a state, for one interval of a histogram. */
interface BucketRow {
  readonly bucket: number
  readonly state: DeliveryState
  readonly count: number
}

interface GroupRow {
  readonly type: string
  /** Last reply as lists show it. */
  readonly reply: string
  readonly count: number
  readonly first: number
  readonly last: number
  /** The newest of them. */
  readonly seq: number
}

type GroupBucketRow = Pick<GroupRow, 'type' | 'reply' | 'count'> & { readonly bucket: number }

/** Result of a batch's deliveries. */
interface ResultRow {
  readonly state: DeliveryState
  /** 1 before the first reply. */
  readonly waits: 0 | 1
  readonly reply: string
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

  /** Counts each event once, even if it has several deliveries. */
  countEvents(filter: DeliveryFilter): number {
    return this.#countOf('count(DISTINCT d.event_id)', filter)
  }

  /** Returns the first delivery of each matching event, oldest first. */
  events(filter: DeliveryFilter, { after = 0, limit }: DeliveryPage): readonly DeliveryRow[] {
    const { from, where, values } = sqlOf(filter)
    const isFirst = 'NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.event_id = d.event_id AND e.seq < d.seq)'
    const sql = `SELECT d.* FROM ${from} ${clause([...where, 'd.seq > ?', isFirst])} ORDER BY d.seq LIMIT ?`
    return this.#database.prepare(sql).all(...values, after, limit) as DeliveryRow[]
  }

  /** Counts deliveries that have ended by type and last reply, the largest group first. */
  groups(filter: DeliveryFilter, limit: number): readonly GroupRow[] {
    const { from, where, values } = sqlOf(filter)
    const sql = `SELECT d.type AS type, ${REPLY_TEXT} AS reply, count(*) AS count, min(d.ended_at) AS first,
      max(d.ended_at) AS last, max(d.seq) AS seq
      FROM ${from} ${clause(where)} GROUP BY 1, 2 ORDER BY 3 DESC, 6 DESC LIMIT ?`
    return this.#database.prepare(sql).all(...values, limit) as GroupRow[]
  }

  /** Counts the same deliveries over the time of their end. */
  groupsOverTime(filter: DeliveryFilter, start: number, widthMs: number): readonly GroupBucketRow[] {
    const { from, where, values } = sqlOf(filter)
    const sql = `SELECT d.type AS type, ${REPLY_TEXT} AS reply,
      CAST((d.ended_at - ?) / ? AS INTEGER) AS bucket, count(*) AS count
      FROM ${from} ${clause(where)} GROUP BY 1, 2, 3`
    return this.#database.prepare(sql).all(start, widthMs, ...values) as GroupBucketRow[]
  }

  /** Counts the deliveries of a batch by state and last reply, apart from those without any reply yet. */
  resultsOf(batch: string): readonly ResultRow[] {
    const sql = `SELECT d.state AS state, (d.state = 'pending' AND d.attempts = 0) AS waits,
      CASE WHEN d.attempts = 0 THEN coalesce(d.reason, d.state) ELSE ${REPLY_TEXT} END AS reply, count(*) AS count
      FROM deliveries d WHERE d.batch = ? GROUP BY 1, 2, 3 ORDER BY 4 DESC`
    return this.#database.prepare(sql).all(batch) as ResultRow[]
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

/** The last reply as lists show it, like `replyTextOf`. */
const REPLY_TEXT =
  "CASE WHEN d.last_status IS NULL THEN coalesce(d.last_error, '') ELSE trim(d.last_status || ' ' || coalesce(d.last_code, '')) END"

const EQUAL: readonly (readonly [
  'workspace' | 'category' | 'state' | 'kind' | 'event' | 'message' | 'batch' | 'reply',
  column: string,
])[] = [
  ['workspace', 'd.workspace'],
  ['category', 'd.category'],
  ['state', 'd.state'],
  ['kind', 'd.kind'],
  ['event', 'd.event_id'],
  ['message', 'd.message'],
  ['batch', 'd.batch'],
  ['reply', REPLY_TEXT],
]

interface Sql {
  readonly from: string
  readonly where: string[]
  readonly values: SqlValue[]
  /** Column with the `seq` by which rows are ordered. */
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
    // Uses the index on categories. A type without a dot equals its category, and does not match.
    add('d.category = ?', filter.type.slice(0, -2))
    where.push('d.type <> d.category')
  } else if (filter.type !== undefined && filter.type !== '*') add('d.type = ?', filter.type)
  if (filter.status !== undefined) {
    const parts = filter.status.map(termSql)
    where.push(`(${parts.map(({ sql }) => sql).join(' OR ')})`)
    values.push(...parts.flatMap(part => part.values))
  }
  if (filter.mark !== undefined) add('instr(d.marks, ?) > 0', ` ${filter.mark} `)
  if (filter.from !== undefined) add('d.created_at >= ?', filter.from)
  if (filter.to !== undefined) add('d.created_at < ?', filter.to)
  if (filter.endedBy !== undefined) add('(d.ended_at IS NULL OR d.ended_at <= ?)', filter.endedBy)
  if (filter.text === undefined) return { from: 'deliveries d', where, values, seq: 'd.seq' }
  // Quotes make the text a phrase, in which the index's query language has no meaning.
  const phrase = `"${filter.text.replaceAll('"', '""')}"`
  if (where.length === 0) {
    // Follows the index's order, so that reading stops when the page is full.
    const from = 'delivery_text t CROSS JOIN deliveries d ON d.seq = t.rowid'
    return { from, where: ['delivery_text MATCH ?'], values: [phrase], seq: 't.rowid' }
  }
  // Reads the other filters' index first, as they may leave few of the rows that contain the text.
  add('d.seq IN (SELECT rowid FROM delivery_text WHERE delivery_text MATCH ?)', phrase)
  return { from: 'deliveries d', where, values, seq: 'd.seq' }
}

function termSql(term: ReplyTerm): { readonly sql: string; readonly values: readonly SqlValue[] } {
  if (term.kind === 'text')
    return {
      sql: "(instr(lower(coalesce(d.last_code, '')), ?) > 0 OR instr(lower(coalesce(d.last_error, '')), ?) > 0)",
      values: [term.text, term.text],
    }
  const { from, to, code } = term
  const range = 'd.last_status BETWEEN ? AND ?'
  if (code === undefined) return { sql: range, values: [from, to] }
  return { sql: `(${range} AND d.last_code = ?)`, values: [from, to, code] }
}

function clause(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** Escapes NULs as `\u0000`, because a driver ends a string at the first one. */
export function writeNul(text: string): string {
  return text.replaceAll('\0', '\\u0000')
}
