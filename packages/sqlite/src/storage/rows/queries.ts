import type { DeadLetter, InboxStats, PausedHandling } from '@ackhook/core'
import type { ActivitySlot, BrowsedEvent, EventLookup, MinuteCount, PresenceView } from '@ackhook/core/spi'
import type { BrowseRequest, CountedPiece, Query } from '../../protocol/batch.ts'
import type { QueryResult } from '../../protocol/batch-result.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { failsAlone, faultOf } from '../driver/sqlite-errors.ts'
import { ACTIVE, AGAIN, AT_ONCE, BEHIND, FIRST, PARKED, WAITING } from '../schema/states.ts'
import { Activity } from './activity.ts'
import { Board } from './board.ts'
import { Browse } from './browse.ts'
import type { Counts } from './counts.ts'
import { DeadLetters, type SampledGroup } from './dead-letters.ts'
import { Erase } from './erase.ts'
import type { FileClock } from './file-clock.ts'
import type { OrderedKeys } from './ordered-keys.ts'
import type { Pauses } from './pauses.ts'
import type { Settle } from './settle.ts'

// `seq` grows with the time of arrival; a redriven row gets a new one. Only the rows contain the time. perf: note 25.
const first = (where: string): string =>
  `SELECT * FROM (SELECT seq FROM ackhook_events ${where} ORDER BY seq LIMIT 1)`
const OLDEST = `SELECT min(accepted_at) AS oldest FROM ackhook_events WHERE seq IN (
    ${first(`WHERE state = ${WAITING} AND due = ${FIRST}`)} UNION ALL
    ${first(`WHERE state = ${WAITING} AND due = ${AT_ONCE}`)} UNION ALL
    ${first(`INDEXED BY ackhook_events_delayed WHERE state = ${WAITING} AND due > ${AT_ONCE}`)} UNION ALL
    ${first(`WHERE state = ${WAITING} AND due = ${AGAIN}`)} UNION ALL
    ${first(`WHERE state = ${PARKED} AND due = ${FIRST}`)} UNION ALL
    ${first(`WHERE state = ${PARKED} AND due = ${AT_ONCE}`)} UNION ALL
    ${first(`WHERE state = ${PARKED} AND due = ${AGAIN}`)} UNION ALL
    ${first(`WHERE state = ${BEHIND} AND due = ${AT_ONCE}`)} UNION ALL
    ${first(`WHERE state = ${ACTIVE}`)})`
// Events behind another one of their key wait for that one, not for a slot.
const OLDEST_UNTRIED = `SELECT min(accepted_at) AS oldest FROM ackhook_events WHERE seq IN (
    ${first(`WHERE state = ${WAITING} AND due = ${FIRST} AND attempts = 0`)} UNION ALL
    ${first(`WHERE state = ${WAITING} AND due = ${AT_ONCE} AND attempts = 0`)})`
/** Rows among which one that is not paused is looked for: takes set aside those of paused types, but only while slots are free. */
const SEARCHED = 10_000
const OLDEST_UNPAUSED = `SELECT accepted_at AS oldest FROM ackhook_events WHERE seq = (
    SELECT seq FROM (SELECT seq, type, attempts FROM ackhook_events
      WHERE state = ${WAITING} AND due = ${AT_ONCE} ORDER BY seq LIMIT ${SEARCHED})
    WHERE attempts = 0 AND type NOT IN (SELECT type FROM ackhook_pauses) ORDER BY seq LIMIT 1)`
const COUNT_RETRYING = `SELECT count(*) AS count FROM ackhook_events INDEXED BY ackhook_events_delayed
  WHERE state = ${WAITING} AND due > ${AT_ONCE}`
// Reads the index by the start of each wait: an event that waits for another process has no error.
const WAITING_ERROR = `SELECT reason FROM (SELECT reason, due - delay AS began FROM ackhook_events
    INDEXED BY ackhook_events_wait_began WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due - delay < 9e15
    ORDER BY due - delay DESC LIMIT 20)
  WHERE reason IS NOT NULL LIMIT 1`
const COUNT_ACTIVE = `SELECT count(*) AS count FROM ackhook_events WHERE state = ${ACTIVE}`
const FORGET = 'DELETE FROM ackhook_ids WHERE key = ? AND forget_at > ?'

type Answer =
  | InboxStats
  | readonly DeadLetter[]
  | readonly BrowsedEvent[]
  | readonly MinuteCount[]
  | PresenceView
  | DeadLetter
  | readonly string[]
  | readonly PausedHandling[]
  | CountedPiece
  | EventLookup
  | readonly SampledGroup[]
  | readonly ActivitySlot[]
  | number
  | boolean
  | undefined

const WRITES: readonly Query['kind'][] = [
  'redrive',
  'redrive-many',
  'discard',
  'discard-many',
  'discard-older',
  'erase',
  'forget',
  'publish',
  'renew',
  'pause',
  'resume',
  'add-activity',
]

/** Returns whether a query needs a transaction. */
export function isWrite({ kind }: Query): boolean {
  return WRITES.includes(kind)
}

/** Queries by operators, the board that processes share, and renewals of single leases. */
export class Queries {
  readonly #counts: Counts
  readonly #deadLetters: DeadLetters
  readonly #browse: Browse
  readonly #erase: Erase
  readonly #board: Board
  readonly #activity: Activity
  readonly #settle: Settle
  readonly #pauses: Pauses
  readonly #clock: FileClock
  readonly #countActive: SqliteStatement
  readonly #oldest: SqliteStatement
  readonly #oldestUntried: SqliteStatement
  readonly #oldestUnpaused: SqliteStatement
  readonly #countRetrying: SqliteStatement
  readonly #waitingError: SqliteStatement
  readonly #forget: SqliteStatement

  constructor(
    database: SqliteDatabase,
    keys: OrderedKeys,
    counts: Counts,
    settle: Settle,
    { pauses, clock }: { readonly pauses: Pauses; readonly clock: FileClock },
  ) {
    this.#clock = clock
    this.#counts = counts
    this.#settle = settle
    this.#pauses = pauses
    this.#deadLetters = new DeadLetters(database, keys, counts)
    this.#browse = new Browse(database)
    this.#erase = new Erase(database, keys, counts)
    this.#board = new Board(database, counts)
    this.#activity = new Activity(database)
    this.#countActive = database.prepare(COUNT_ACTIVE)
    this.#oldest = database.prepare(OLDEST)
    this.#oldestUntried = database.prepare(OLDEST_UNTRIED)
    this.#oldestUnpaused = database.prepare(OLDEST_UNPAUSED)
    this.#countRetrying = database.prepare(COUNT_RETRYING)
    this.#waitingError = database.prepare(WAITING_ERROR)
    this.#forget = database.prepare(FORGET)
  }

  /** Throws only errors that fail the whole transaction. */
  run(query: Query, now: number): QueryResult {
    try {
      return { value: this.#run(query, now) }
    } catch (error) {
      if (failsAlone(error)) return faultOf(error)
      throw error
    }
  }

  #run(query: Query, now: number): Answer {
    switch (query.kind) {
      case 'stats':
        return this.#stats(now)
      case 'list':
        return this.#deadLetters.list(query)
      case 'groups':
        return this.#deadLetters.count(query.after)
      case 'samples':
        return this.#deadLetters.samples(query.groups)
      case 'get':
        return this.#deadLetters.get(query.key)
      case 'redrive':
        return this.#deadLetters.redrive(query.key, now)
      case 'discard':
        return this.#deadLetters.discard(query.key)
      case 'redrive-many':
        return query.keys.filter(key => this.#deadLetters.redrive(key, now))
      case 'discard-many':
        return query.keys.filter(key => this.#deadLetters.discard(key))
      case 'keys':
        return this.#erase.keys(query.after, query.limit)
      case 'erase':
        return this.#erase.waiting(query.key)
      case 'discard-older':
        return this.#deadLetters.discardOlder(query.failedBefore, query.limit)
      case 'forget':
        return Number(this.#forget.run(query.key, this.#clock.read().judged).changes) === 1
      case 'time':
        return this.#time()
      case 'lookup':
        return this.#browse.lookup(query.key, now)
      case 'browse':
        return this.#find(query, now)
      case 'throughput':
        return this.#counts.minutes(now)
      case 'renew':
        return this.#settle.renew(query.lease, query.leaseMs, now)
      case 'pause':
        return this.#pauses.add(query.type, now)
      case 'resume':
        return this.#pauses.end(query.type)
      case 'paused':
        return this.#pauses.read().list
      case 'publish':
        this.#board.publish(query.own)
        return true
      case 'board':
        return this.#board.read()
      case 'add-activity':
        this.#activity.add(query.slots, this.#time())
        return true
      case 'activity':
        return this.#activity.read(query.query)
    }
  }

  /** Returns `undefined` while nothing may be deleted by its age. */
  #time(): number | undefined {
    const { judged, isInDoubt } = this.#clock.read()
    return isInDoubt ? undefined : judged
  }

  #find({ state, key, after, limit }: BrowseRequest, now: number): readonly BrowsedEvent[] {
    if (key !== undefined) return this.#browse.one(key, state, now)
    if (state === 'dead') return this.#deadLetters.browse({ limit, ...(after !== undefined && { after }) })
    return this.#browse.page(state, after?.seq ?? 0, limit, now)
  }

  #stats(now: number): InboxStats {
    const countOf = (statement: SqliteStatement): number =>
      (statement.get() as { readonly count: number }).count
    const ageOf = (statement: SqliteStatement): number => {
      const { oldest = null } = (statement.get() ?? {}) as { readonly oldest?: number | null }
      return oldest === null ? 0 : Math.max(0, now - oldest)
    }
    const active = countOf(this.#countActive)
    const paused = this.#pauses.read()
    const untried = paused.types.size > 0 ? this.#oldestUnpaused : this.#oldestUntried
    const waiting = this.#waitingError.get() as { readonly reason: string } | undefined
    return {
      pending: Math.max(0, this.#counts.total('unhandled') - active),
      active,
      dead: this.#counts.total('dead'),
      oldestPendingMs: ageOf(this.#oldest),
      retrying: countOf(this.#countRetrying),
      // What is paused could not run now.
      oldestUntriedMs: paused.coversAll ? 0 : ageOf(untried),
      ...(paused.coversAll && { paused: true }),
      ...(paused.types.size > 0 && { pausedTypes: [...paused.types] }),
      ...(waiting && { waitingError: waiting.reason }),
    }
  }
}
