import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

/** Number of ids checked in one portion: a few pages. */
const PORTION = 2000
/** Number of passes within the longest retention: few enough that each forgets many ids per page. */
const PASSES_PER_RETENTION = 64
const MAX_REST_MS = 3_600_000

const LOOK = `SELECT count(*) AS ids, max(key) AS last, min(forget_at) AS first, max(forget_at) AS latest,
    min(iif(forget_at > ?1, forget_at, NULL)) AS next
  FROM (SELECT key, forget_at FROM ackhook_ids WHERE key > ?2 ORDER BY key LIMIT ${PORTION})`
const REMOVE = 'DELETE FROM ackhook_ids WHERE key > ? AND key <= ? AND forget_at <= ?'

interface Portion {
  readonly ids: number
  /** Largest key; `null`, like the fields below, if there are no ids. */
  readonly last: string | null
  readonly first: number | null
  readonly latest: number | null
  /** Time at which the next id expires. */
  readonly next: number | null
}

/**
 * Forgets expired ids. From time to time, goes through all ids in file order: in the order in which they expire, each
 * would be on another page. perf: note 29.
 */
export class Prune {
  readonly #look: SqliteStatement
  readonly #remove: SqliteStatement
  /** Last key that this pass has checked. */
  #after = ''
  #startsAt = Number.NEGATIVE_INFINITY
  #startedAt = 0
  /** Time at which the next of the ids that this pass has kept expires. */
  #next = Number.POSITIVE_INFINITY
  #latest = 0

  constructor(database: SqliteDatabase) {
    this.#look = database.prepare(LOOK)
    this.#remove = database.prepare(REMOVE)
  }

  /** Checks a few ids, so that no arrival waits long. Returns whether the pass continues. */
  removeSome(now: number): boolean {
    if (this.#after === '' && !this.#start(now)) return false
    const { ids, last, first, latest, next } = this.#look.get(now, this.#after) as Portion
    // A deletion that finds nothing would still lock the file.
    if (last !== null && first !== null && first <= now) this.#remove.run(this.#after, last, now)
    this.#next = Math.min(this.#next, next ?? Number.POSITIVE_INFINITY)
    this.#latest = Math.max(this.#latest, latest ?? 0)
    if (ids === PORTION && last !== null) {
      this.#after = last
      return true
    }
    this.#after = ''
    this.#startsAt = this.#startedAt + Math.min(MAX_REST_MS, this.#restMs())
    return false
  }

  #start(now: number): boolean {
    if (now < this.#startsAt) return false
    this.#startedAt = now
    this.#next = Number.POSITIVE_INFINITY
    this.#latest = 0
    return true
  }

  #restMs(): number {
    if (this.#next === Number.POSITIVE_INFINITY) return 0
    return Math.max(this.#next - this.#startedAt, (this.#latest - this.#startedAt) / PASSES_PER_RETENTION)
  }
}
