import type { JudgedTime, MinuteCount } from '@ackhook/core/spi'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

/** Counts of all events in the file: not handled, dead letters, and postponed ones. */
export type Total = 'unhandled' | 'dead' | 'postponed'
/** Counts of one minute. */
type Happening = 'received' | 'handled' | 'dead_lettered'

const FIELDS = { received: 'received', handled: 'handled', dead_lettered: 'deadLettered' } as const
const MINUTE_MS = 60_000
const KEPT_MS = 60 * MINUTE_MS

const READ = 'SELECT value FROM ackhook_counts WHERE name = ? AND minute = 0'
const MINUTES = 'SELECT name, minute, value FROM ackhook_counts WHERE minute > ? ORDER BY minute'
const ADD = `INSERT INTO ackhook_counts (name, minute, value) VALUES (?, ?, ?)
  ON CONFLICT (name, minute) DO UPDATE SET value = value + excluded.value`
const DROP = 'DELETE FROM ackhook_counts WHERE minute > 0 AND minute <= ?'

/** Counts updated in each change's own transaction: counting a million rows takes too long. perf: note 25. */
export class Counts {
  readonly #read: SqliteStatement
  readonly #minutes: SqliteStatement
  readonly #add: SqliteStatement
  readonly #drop: SqliteStatement
  /** Changes made by this transaction. */
  #totals = { unhandled: 0, dead: 0, postponed: 0 }
  #happened = { received: 0, handled: 0, dead_lettered: 0 }
  /** Value of `unhandled` when this transaction first read it. */
  #unhandledBefore: number | undefined
  #lastMinute = 0

  constructor(database: SqliteDatabase) {
    this.#read = database.prepare(READ)
    this.#minutes = database.prepare(MINUTES)
    this.#add = database.prepare(ADD)
    this.#drop = database.prepare(DROP)
  }

  /**
   * Returns the number of events that are neither handled nor dead. Must run in a transaction, during which no other
   * connection can change it.
   */
  get unhandled(): number {
    this.#unhandledBefore ??= this.#stored('unhandled')
    return this.#unhandledBefore + this.#totals.unhandled
  }

  total(name: Total): number {
    return this.#stored(name) + this.#totals[name]
  }

  change(name: Total, by: 1 | -1): void {
    this.#totals[name] += by
    if (name === 'unhandled' && by === 1) this.happened('received')
  }

  happened(what: Happening): void {
    this.#happened[what]++
  }

  /** Called at the end of each transaction. `now` names the minute; `judged` decides which are over. */
  save(now: number, { judged, isInDoubt }: JudgedTime): void {
    const minute = now - (now % MINUTE_MS)
    for (const [name, by] of Object.entries(this.#totals)) if (by !== 0) this.#add.run(name, 0, by)
    for (const [name, by] of Object.entries(this.#happened)) if (by !== 0) this.#add.run(name, minute, by)
    if (minute !== this.#lastMinute && !isInDoubt) this.#drop.run(judged - (judged % MINUTE_MS) - KEPT_MS)
    this.#lastMinute = minute
  }

  /** Called after each transaction, saved or rolled back. */
  reset(): void {
    this.#totals = { unhandled: 0, dead: 0, postponed: 0 }
    this.#happened = { received: 0, handled: 0, dead_lettered: 0 }
    this.#unhandledBefore = undefined
  }

  /** Returns the counts of the last 60 minutes, oldest first, without empty minutes. */
  minutes(now: number): readonly MinuteCount[] {
    const counts: { startedAt: number; received: number; handled: number; deadLettered: number }[] = []
    for (const { name, minute, value } of this.#minutes.all(Math.max(0, now - KEPT_MS)) as CountRow[]) {
      if (counts.at(-1)?.startedAt !== minute)
        counts.push({ startedAt: minute, received: 0, handled: 0, deadLettered: 0 })
      const count = counts.at(-1)
      if (count !== undefined) count[FIELDS[name as Happening]] = value
    }
    return counts
  }

  #stored(name: Total): number {
    const row = this.#read.get(name) as Pick<CountRow, 'value'> | undefined
    return row?.value ?? 0
  }
}

interface CountRow {
  readonly name: string
  readonly minute: number
  readonly value: number
}
