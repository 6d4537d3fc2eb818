import type { StoredEvent } from '../../protocol/batch-result.ts'
import type { StoragePolicy } from '../../protocol/storage-policy.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import type { Running } from '../leases/own-leases.ts'
import { INDEX_UNGROUPED } from '../schema/schema.ts'
import { AGAIN, AT_ONCE, FIRST, WAITING } from '../schema/states.ts'
import { BODY_SEQ, QUEUED_AT } from './bodies.ts'

export interface WaitingRow extends Omit<StoredEvent, 'body' | 'trace' | 'queuedAt'> {
  readonly seq: number
  readonly due: number
  readonly attempts: number
  readonly crashes: number
  readonly isOrdered: number
  readonly mark: number
  readonly postponed: number
  readonly bodySeq: number
  readonly queuedAt: number | null
  readonly group: string | null
}

const COLUMNS = `seq, due, key, namespace, id, type, fingerprint, received_at AS receivedAt, attempts, crashes,
    order_key IS NOT NULL AS isOrdered, ${QUEUED_AT} AS queuedAt, mark, postponed, ${BODY_SEQ} AS bodySeq, group_name AS "group"`
const LAST_DUE = `SELECT due FROM ackhook_events WHERE state = ${WAITING} AND due <= ? ORDER BY due DESC LIMIT 1`
const AT_ANY_TIME = `SELECT ${COLUMNS} FROM ackhook_events
  WHERE state = ${WAITING} AND due <= ${AT_ONCE} ORDER BY due, seq LIMIT ?`
const WAITS_FOR_SLOT = `SELECT ${COLUMNS} FROM ackhook_events
  WHERE state = ${WAITING} AND due >= ${FIRST} AND due <= ${AT_ONCE} ORDER BY due, seq LIMIT ?`
const COMES_AGAIN = `SELECT ${COLUMNS} FROM ackhook_events
  WHERE state = ${WAITING} AND due = ${AGAIN} ORDER BY seq LIMIT ?`
const WAITED_FOR_TIME = `SELECT ${COLUMNS} FROM ackhook_events
  WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due <= ? ORDER BY due, seq LIMIT ?`
const NEXT_DUE = `SELECT min(due) AS due FROM ackhook_events WHERE state = ${WAITING}`
const NEXT_TIME = `${NEXT_DUE} AND due > ${AT_ONCE}`

/** Returns whether a waiting row with this `due` is in the lane of those whose time has come. */
export function isRetry(due: number): boolean {
  return due === AGAIN || due > AT_ONCE
}

/**
 * Decides which lane is next. One has the rows that wait for a slot, the other those whose time has come, mostly to be
 * tried again: while both have rows, they take turns, and the second takes at most half of the slots.
 */
class Turns {
  #wasRetry = false

  next<T>(
    { concurrency }: StoragePolicy,
    { retries }: Running,
    first: () => T | undefined,
    retry: () => T | undefined,
  ): T | undefined {
    const isRetryTurn = !this.#wasRetry && retries < Math.max(1, Math.floor(concurrency / 2))
    const again = isRetryTurn ? retry() : undefined
    this.#wasRetry = again !== undefined
    return again ?? first() ?? (isRetryTurn ? undefined : retry())
  }
}

/** First in, first out in each lane. */
export class PlainLanes {
  readonly #turns = new Turns()
  readonly #lastDue: SqliteStatement
  readonly #atAnyTime: SqliteStatement
  readonly #comesAgain: SqliteStatement
  readonly #waitsForSlot: SqliteStatement
  readonly #waitedForTime: SqliteStatement
  readonly #nextDue: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#lastDue = database.prepare(LAST_DUE)
    this.#atAnyTime = database.prepare(AT_ANY_TIME)
    this.#comesAgain = database.prepare(COMES_AGAIN)
    this.#waitsForSlot = database.prepare(WAITS_FOR_SLOT)
    this.#waitedForTime = database.prepare(WAITED_FOR_TIME)
    this.#nextDue = database.prepare(NEXT_DUE)
  }

  /** Returns whether a row waits that is due. */
  isDue(now: number): boolean {
    return this.#lastDue.get(now) !== undefined
  }

  next(limit: number, policy: StoragePolicy, running: () => Running, now: number): readonly WaitingRow[] {
    // A statement of many columns runs only if a row may be due. perf: note 23.
    const last = this.#lastDue.get(now) as { readonly due: number } | undefined
    if (last === undefined) return []
    const atAnyTime = this.#atAnyTime.all(limit) as WaitingRow[]
    // Sorted first: those that a process with groups has put into its lane.
    const comesAgain = atAnyTime[0]?.due === AGAIN
    if (last.due <= AT_ONCE && !comesAgain) return atAnyTime
    const forSlot = comesAgain ? (this.#waitsForSlot.all(limit) as WaitingRow[]) : atAnyTime
    const again = comesAgain ? (this.#comesAgain.all(limit) as WaitingRow[]) : []
    const waited = last.due <= AT_ONCE ? [] : (this.#waitedForTime.all(now, limit) as WaitingRow[])
    return this.#merge(forSlot, [...again, ...waited], limit, policy, running())
  }

  nextDueMs(now: number): number | undefined {
    const { due } = this.#nextDue.get() as { readonly due: number | null }
    return due === null ? undefined : Math.max(0, due - now)
  }

  #merge(
    forSlot: readonly WaitingRow[],
    waited: readonly WaitingRow[],
    limit: number,
    policy: StoragePolicy,
    { retries }: Running,
  ): readonly WaitingRow[] {
    const merged: WaitingRow[] = []
    const running = { byGroup: new Map(), retries }
    let [left, right] = [0, 0]
    const first = (): WaitingRow | undefined => forSlot[left++]
    const retry = (): WaitingRow | undefined => waited[right++]
    while (forSlot[left]?.due === FIRST && merged.length < limit) merged.push(first() as WaitingRow)
    while (merged.length < limit) {
      const row = this.#turns.next(policy, running, first, retry)
      if (row === undefined) break
      if (isRetry(row.due)) running.retries++
      merged.push(row)
    }
    return merged
  }
}

const IN_LANE = `state = ${WAITING} AND due <= ${AT_ONCE} AND group_name IS NOT NULL AND due = ?`
const INDEXED = 'FROM ackhook_events INDEXED BY ackhook_events_group'
const FIRST_GROUP = `SELECT group_name AS name ${INDEXED} WHERE ${IN_LANE} ORDER BY group_name LIMIT 1`
const NEXT_GROUP = `SELECT group_name AS name ${INDEXED} WHERE ${IN_LANE} AND group_name > ?
  ORDER BY group_name LIMIT 1`
const OF_GROUP = `SELECT ${COLUMNS} ${INDEXED} WHERE ${IN_LANE} AND group_name = ? ORDER BY seq LIMIT 1`
/** Rows changed in one transaction to give them a group, and of those whose time has come. */
const WINDOW = 200
const groupOf = {
  type: 'substr(type, 1, 128)',
  namespace: 'substr(namespace, 1, 128)',
  function: "''",
} satisfies Readonly<Record<NonNullable<StoragePolicy['groups']>['by'], string>>
export const UNGROUPED: string = `SELECT seq FROM ackhook_events INDEXED BY ackhook_events_ungrouped
  WHERE state = ${WAITING} AND due <= ${AT_ONCE} AND group_name IS NULL ORDER BY due, seq LIMIT ${WINDOW}`
const adopt = (group: string): string =>
  `UPDATE ackhook_events SET group_name = ${group} WHERE seq IN (${UNGROUPED})`
const comesAgain = (group: string): string => `UPDATE ackhook_events
  SET due = ${AGAIN}, group_name = coalesce(group_name, ${group}) WHERE seq IN (
    SELECT seq FROM ackhook_events WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due <= ?
    ORDER BY due, seq LIMIT ${WINDOW})`

/**
 * Groups take turns in each lane, and a group whose slots are taken has none. An index by lane and group finds the next
 * one: no take reads the rows of a group that waits.
 */
export class GroupLanes {
  readonly #database: SqliteDatabase
  readonly #turns = new Turns()
  /** The group of each lane that had the last turn. */
  readonly #last = new Map<number, string>()
  readonly #firstGroup: SqliteStatement
  readonly #nextGroup: SqliteStatement
  readonly #ofGroup: SqliteStatement
  #adopt: SqliteStatement | undefined
  readonly #comesAgain: Readonly<Record<keyof typeof groupOf, SqliteStatement>>
  readonly #nextTime: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#database = database
    this.#firstGroup = database.prepare(FIRST_GROUP)
    this.#nextGroup = database.prepare(NEXT_GROUP)
    this.#ofGroup = database.prepare(OF_GROUP)
    const each = (
      sql: (group: string) => string,
    ): Readonly<Record<keyof typeof groupOf, SqliteStatement>> => ({
      type: database.prepare(sql(groupOf.type)),
      namespace: database.prepare(sql(groupOf.namespace)),
      function: database.prepare(sql(groupOf.function)),
    })
    this.#comesAgain = each(comesAgain)
    this.#nextTime = database.prepare(NEXT_TIME)
  }

  /**
   * Called once in each transaction. Gives a group to rows that were stored without one, by a process without
   * the option: the oldest first. Returns whether more of them may wait.
   */
  prepare({ by }: NonNullable<StoragePolicy['groups']>, now: number): boolean {
    this.#comesAgain[by].run(now)
    // Each time: a transaction that is rolled back takes the index with it.
    this.#database.exec(INDEX_UNGROUPED)
    this.#adopt ??= this.#database.prepare(adopt(groupOf[by]))
    return Number(this.#adopt.run().changes) === WINDOW
  }

  next(policy: StoragePolicy, running: Running): WaitingRow | undefined {
    const { limit = 1 } = policy.groups ?? {}
    const isFull = (group: string): boolean => (running.byGroup.get(group) ?? 0) >= limit
    const inLane = (due: number) => (): WaitingRow | undefined => this.#inLane(due, isFull)
    return inLane(FIRST)() ?? this.#turns.next(policy, running, inLane(AT_ONCE), inLane(AGAIN))
  }

  nextDueMs(now: number): number | undefined {
    const { due } = this.#nextTime.get() as { readonly due: number | null }
    return due === null ? undefined : Math.max(0, due - now)
  }

  #inLane(due: number, isFull: (group: string) => boolean): WaitingRow | undefined {
    const last = this.#last.get(due)
    const seen = new Set<string>()
    let group = last === undefined ? this.#first(due) : this.#after(due, last)
    while (group !== undefined && !seen.has(group)) {
      if (!isFull(group)) {
        this.#last.set(due, group)
        return this.#ofGroup.get(due, group) as WaitingRow
      }
      seen.add(group)
      group = this.#after(due, group)
    }
    return undefined
  }

  #first(due: number): string | undefined {
    return (this.#firstGroup.get(due) as { readonly name: string } | undefined)?.name
  }

  #after(due: number, group: string): string | undefined {
    return (
      (this.#nextGroup.get(due, group) as { readonly name: string } | undefined)?.name ?? this.#first(due)
    )
  }
}
