import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'
import { newId } from '../lib/ids.ts'
import type { DeliveryState } from '../shapes/requests.ts'
import { writeNul } from './delivery-query.ts'
import {
  type AttemptOutcome,
  type AttemptResult,
  type AttemptRow,
  addMarks,
  type DeliveryRow,
  type NewDelivery,
} from './delivery-row.ts'
import { ATTEMPT_BYTES, attemptBytes, type LogSize } from './log-size.ts'
import type { LongReplies } from './long-replies.ts'

/** Deliveries of a workspace: all, or only those that go to another address than its endpoint's. */
type Due = 'all' | 'elsewhere'

/** Stores deliveries with their bytes and attempts. Callers that write hold a transaction. */
export class Deliveries {
  readonly #insert: SqliteStatement
  readonly #insertBody: SqliteStatement
  readonly #insertText: SqliteStatement
  readonly #due: Readonly<Record<Due, { readonly take: SqliteStatement; readonly next: SqliteStatement }>>
  readonly #arrivals: Arrivals
  readonly #nextOf: SqliteStatement
  readonly #begin: SqliteStatement
  readonly #end: SqliteStatement
  readonly #addAttempt: SqliteStatement
  readonly #bySeq: SqliteStatement
  readonly #byId: SqliteStatement
  readonly #body: SqliteStatement
  readonly #attempts: SqliteStatement
  readonly #changeState: SqliteStatement
  readonly #counts: SqliteStatement
  readonly #makeDue: SqliteStatement
  readonly #giveUp: SqliteStatement
  readonly #results: SqliteStatement
  readonly #sizeOfAttempts: SqliteStatement
  readonly #dropReplies: SqliteStatement
  readonly #size: LogSize
  readonly #replies: LongReplies | undefined
  readonly #decoder = new TextDecoder()

  /** `replies` keeps the long replies of a log in memory. */
  constructor(database: SqliteDatabase, size: LogSize, replies: LongReplies | undefined) {
    this.#size = size
    this.#replies = replies
    this.#insert = database.prepare(
      `INSERT INTO deliveries (id, workspace, event_id, type, category, kind, state, created_at, next_at, running,
        attempts, origin, message, reason, bytes, draw, faults, headers, target, batch, marks)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#insertBody = database.prepare('INSERT INTO payloads (seq, body) VALUES (?, ?)')
    this.#insertText = database.prepare('INSERT INTO delivery_text (rowid, body) VALUES (?, ?)')
    const due = (which: string) => ({
      take: database.prepare(
        `SELECT * FROM deliveries WHERE state = 'pending' AND running = 0 ${which} AND workspace = ? AND next_at <= ?
         ORDER BY next_at, seq LIMIT ?`,
      ),
      next: database.prepare(
        `SELECT next_at FROM deliveries WHERE state = 'pending' AND running = 0 ${which} AND workspace = ?
         ORDER BY next_at, seq LIMIT 1`,
      ),
    })
    this.#due = { all: due(''), elsewhere: due('AND target IS NOT NULL') }
    this.#nextOf = database.prepare(
      `SELECT min(next_at) AS next_at FROM deliveries WHERE message = ? AND state = 'pending' AND attempts = 0`,
    )
    this.#begin = database.prepare('UPDATE deliveries SET running = 1, arrival = ?, marks = ? WHERE seq = ?')
    this.#arrivals = new Arrivals(database)
    this.#end = database.prepare(
      `UPDATE deliveries SET running = 0, attempts = ?, started_at = coalesce(started_at, ?), last_status = ?,
        last_code = ?, last_error = ?, last_duration_ms = ?, state = ?, next_at = ?, ended_at = ?, reason = ?, marks = ? WHERE seq = ?`,
    )
    this.#addAttempt = database.prepare(`INSERT INTO attempts VALUES (${Array(16).fill('?').join(', ')})`)
    this.#bySeq = database.prepare('SELECT * FROM deliveries WHERE seq = ?')
    this.#byId = database.prepare('SELECT * FROM deliveries WHERE id = ?')
    this.#body = database.prepare('SELECT body FROM payloads WHERE seq = ?')
    this.#attempts = database.prepare('SELECT * FROM attempts WHERE seq = ? ORDER BY number')
    this.#changeState = database.prepare(
      `UPDATE deliveries SET state = ?, reason = ?, ended_at = ?, next_at = NULL WHERE seq = ? AND state = ?`,
    )
    this.#counts = database.prepare('SELECT state, count(*) AS count FROM deliveries GROUP BY state')
    this.#makeDue = database.prepare(
      "UPDATE deliveries SET next_at = ? WHERE seq = ? AND state = 'pending' AND next_at > ?",
    )
    this.#giveUp = database.prepare(
      `UPDATE deliveries SET state = 'undelivered', reason = ?, ended_at = ?, next_at = NULL
       WHERE workspace = ? AND state = 'pending'`,
    )
    this.#results = database.prepare(
      `SELECT d.workspace, a.at, a.acknowledged, a.status, a.code, a.error
       FROM attempts a JOIN deliveries d ON d.seq = a.seq WHERE a.at >= ? AND d.target IS NULL ORDER BY a.at`,
    )
    this.#sizeOfAttempts = database.prepare(
      `SELECT coalesce(sum(${ATTEMPT_BYTES}), 0) AS bytes FROM attempts WHERE seq = ?`,
    )
    this.#dropReplies = database.prepare(
      `UPDATE attempts SET reply_headers = '[]', reply_body = x'', truncated = 1
       WHERE seq = ? AND length(reply_body) > 0`,
    )
    // Attempts that the last process left unfinished are repeated.
    database.exec('UPDATE deliveries SET running = 0 WHERE running = 1')
  }

  insert(one: NewDelivery): DeliveryRow {
    const id = newId('dlv_')
    const { origin = null, message = null, reason = null, faults = null, headers = null, body } = one
    const { target = null, batch = null, marks = '' } = one
    const names = [one.event_id, one.type, one.category].map(writeNul)
    const { lastInsertRowid } = this.#insert.run(
      ...[id, one.workspace, ...names, one.kind, one.state, one.created_at],
      ...[one.next_at, origin, message, reason, body.length, one.draw, faults, headers, target, batch, marks],
    )
    const seq = Number(lastInsertRowid)
    this.#insertBody.run(seq, body)
    this.#insertText.run(seq, this.#decoder.decode(body))
    this.#size.add(body.length)
    return this.bySeq(seq) as DeliveryRow
  }

  /** Returns due deliveries, the longest overdue first, and marks them as running. */
  takeDue(workspace: string, now: number, limit: number, which: Due): readonly DeliveryRow[] {
    const rows = this.#due[which].take.all(workspace, now, limit) as DeliveryRow[]
    for (const row of rows) {
      const { arrival, isLate } = this.#arrivals.of(row)
      this.#begin.run(arrival, addMarks(row.marks, isLate ? ['out_of_order'] : []), row.seq)
    }
    return rows
  }

  /** Returns the time of a workspace's next attempt. */
  nextDue(workspace: string, which: Due): number | undefined {
    const row = this.#due[which].next.get(workspace) as { readonly next_at: number } | undefined
    return row?.next_at
  }

  /** Returns the time of the next first attempt at an event of a message. */
  nextOf(message: string): number | undefined {
    const row = this.#nextOf.get(message) as { readonly next_at: number | null }
    return row.next_at ?? undefined
  }

  /** Adds an attempt, and updates the delivery with its outcome and all its `marks`. */
  record(made: AttemptRow, outcome: AttemptOutcome, marks: string): void {
    const attempt = this.#replies?.store(made) ?? made
    this.#addAttempt.run(
      ...[attempt.seq, attempt.number, attempt.at, attempt.duration_ms, attempt.acknowledged, attempt.status],
      ...[attempt.code, attempt.error, attempt.retry_after_ms, attempt.faults, attempt.url, attempt.headers],
      ...[attempt.body, attempt.reply_headers, attempt.reply_body, attempt.truncated],
    )
    this.#size.add(attemptBytes(attempt))
    this.#end.run(
      ...[attempt.number, attempt.at, attempt.status, attempt.code, attempt.error],
      ...[
        attempt.duration_ms,
        outcome.state,
        outcome.next_at,
        outcome.ended_at,
        outcome.reason,
        marks,
        attempt.seq,
      ],
    )
  }

  /** Drops the headers and bodies of a delivery's replies. Results of attempts stay. */
  dropReplies(seq: number): void {
    const before = this.#attemptBytesOf(seq)
    this.#replies?.forget(seq)
    this.#dropReplies.run(seq)
    this.#size.add(this.#attemptBytesOf(seq) - before)
  }

  #attemptBytesOf(seq: number): number {
    return (this.#sizeOfAttempts.get(seq) as { readonly bytes: number }).bytes
  }

  /** Changes the state if it is `from`, and returns whether it was. */
  changeState(seq: number, from: DeliveryState, to: DeliveryState, reason: string, now: number): boolean {
    return this.#changeState.run(to, reason, now, seq, from).changes > 0
  }

  /** Moves the next attempt of a pending delivery forward to `at`, if it is later. */
  makeDue(seq: number, at: number): void {
    this.#makeDue.run(at, seq, at)
  }

  /** Makes all pending deliveries of a workspace undelivered, and returns their number. */
  giveUp(workspace: string, reason: string, now: number): number {
    return Number(this.#giveUp.run(reason, now, workspace).changes)
  }

  bySeq(seq: number): DeliveryRow | undefined {
    return this.#bySeq.get(seq) as DeliveryRow | undefined
  }

  byId(id: string): DeliveryRow | undefined {
    return this.#byId.get(id) as DeliveryRow | undefined
  }

  bodyOf(seq: number): Uint8Array {
    const row = this.#body.get(seq) as { readonly body: Uint8Array } | undefined
    return row?.body ?? new Uint8Array()
  }

  attemptsOf(seq: number): readonly AttemptRow[] {
    const attempts = this.#attempts.all(seq) as AttemptRow[]
    return this.#replies?.restore(seq, attempts) ?? attempts
  }

  /** Notes that the log was emptied. */
  cleared(): void {
    this.#arrivals.clear()
  }

  /** Returns the results of all attempts at the endpoint since an instant, by start. */
  resultsSince(at: number): readonly AttemptResult[] {
    return this.#results.all(at) as AttemptResult[]
  }

  /** Counts the deliveries in each state, by scanning a whole index. */
  counts(): ReadonlyMap<DeliveryState, number> {
    const rows = this.#counts.all() as { readonly state: DeliveryState; readonly count: number }[]
    return new Map(rows.map(({ state, count }) => [state, count]))
  }
}

/** Numbers first attempts, and knows which of them come after that of a later delivery. */
class Arrivals {
  #last: number
  /** Newest delivery that has arrived at each workspace's endpoint. */
  readonly #newest: Map<string, number>

  constructor(database: SqliteDatabase) {
    const last = database.prepare('SELECT coalesce(max(arrival), 0) AS last FROM deliveries').get()
    this.#last = (last as { readonly last: number }).last
    const newest = database.prepare(
      `SELECT workspace, max(seq) AS seq FROM deliveries
       WHERE arrival IS NOT NULL AND target IS NULL GROUP BY workspace`,
    )
    const rows = newest.all() as { readonly workspace: string; readonly seq: number }[]
    this.#newest = new Map(rows.map(({ workspace, seq }) => [workspace, seq]))
  }

  /** Returns a delivery's number, and whether it is late. Only its first attempt can be. */
  of({ seq, workspace, arrival, target }: DeliveryRow): {
    readonly arrival: number
    readonly isLate: boolean
  } {
    if (arrival !== null) return { arrival, isLate: false }
    this.#last += 1
    if (target !== null) return { arrival: this.#last, isLate: false }
    const newest = this.#newest.get(workspace) ?? 0
    this.#newest.set(workspace, Math.max(newest, seq))
    return { arrival: this.#last, isLate: seq < newest }
  }

  clear(): void {
    this.#last = 0
    this.#newest.clear()
  }
}
