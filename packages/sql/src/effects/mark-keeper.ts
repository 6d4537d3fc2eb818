import type { EffectsHost } from '@ackhook/core'
import { describeError, Rounds } from '@ackhook/core/spi'
import type { Database } from '../database/database.ts'
import type { DeletionClock } from '../database/deletion-clock.ts'
import type { Dialect } from '../database/dialect.ts'
import { NOW } from '../schema/ddl.ts'
import { canBeStored } from './marks.ts'

/** Marks deleted, and letters read, at a time: few enough that nothing waits for it. */
const BATCH = 500
const LETTERS = 100
/** A step follows another one after a second, while there is more to do, and otherwise after a minute. */
const STEP_MS = 1000
const REST_MS = 60_000
/** A step that has not been answered by then is given up: a connection may be lost without a word. */
const DEADLINE_MS = 60_000

/**
 * Deletes marks of this application's handlers that are older than the retention, a few at a time: another application may
 * keep its own for longer. A dead letter may run again at any time, for as long
 * as it is kept: its marks are set anew when half of the retention has passed, so that they are far from their end
 * whenever and by whomever it is redriven. No mark is deleted before this process has done so for all letters.
 */
export class MarkKeeper {
  readonly #database: Database
  readonly #clock: DeletionClock
  readonly #retentionMs: number
  readonly #letters: EffectsHost['deadLetters']
  readonly #handlers: ReadonlySet<string>
  readonly #statements: KeeperStatements
  /** Cursor of the last letter that was looked at. */
  #after: string | undefined
  /** Monotonic milliseconds at which the next look at all letters begins. */
  #lookAt = Number.NEGATIVE_INFINITY
  readonly #logger: EffectsHost['logger']
  readonly #rounds: Rounds<boolean>
  /** Text of the last failure that was told. */
  #told: string | undefined

  constructor(
    database: Database,
    { clock, retentionMs, handlers, letters, logger, rounds }: MarkKeeperOptions,
  ) {
    this.#database = database
    this.#clock = clock
    this.#retentionMs = retentionMs
    this.#handlers = handlers
    this.#letters = letters
    this.#statements = keeperStatements(database.dialect)
    this.#logger = logger
    this.#rounds = new Rounds({
      name: 'marks',
      board: rounds,
      deadlineMs: DEADLINE_MS,
      run: ({ signal }) => this.#step(signal),
      succeeded: hasMore => {
        this.#told = undefined
        return inTurn(hasMore ? STEP_MS : REST_MS)
      },
      failed: error => this.#failed(error),
    })
  }

  start(): void {
    this.#rounds.next(inTurn(STEP_MS))
  }

  stop(): void {
    void this.#rounds.end()
  }

  /** The look at the letters begins again. */
  #failed(err: unknown): number {
    this.#after = undefined
    const text = describeError(err)
    if (text !== this.#told)
      this.#logger.warn(
        { code: 'marks_not_kept', err },
        `Marks of handlers could not be renewed or deleted: ${text}. Tried again every minute. Until that succeeds, none is deleted, and those of a dead letter may reach their end.`,
      )
    this.#told = text
    return inTurn(REST_MS)
  }

  /** Returns whether there is more to do at once. */
  async #step(signal: AbortSignal): Promise<boolean> {
    if (this.#letters !== undefined && performance.now() >= this.#lookAt) {
      const isUnderWay = this.#after !== undefined
      const page = isUnderWay || (await this.#hasOld()) ? await this.#renewPage(this.#letters, signal) : 0
      if (page > 0) return true
      this.#after = undefined
      this.#lookAt = performance.now() + this.#retentionMs / 8
    }
    const mayDelete = this.#clock.mayDelete(({ code, message }) => this.#logger.warn({ code }, message))
    if (!mayDelete) return false
    // One at a time: the index tells the old marks of one handler, without those of other applications.
    let hasMore = false
    for (const handler of this.#handlers) {
      const { affected } = await this.#database.query(this.#statements.prune, [handler, this.#retentionMs])
      if (affected >= BATCH) hasMore = true
      signal.throwIfAborted()
    }
    return hasMore
  }

  async #hasOld(): Promise<boolean> {
    for (const handler of this.#handlers) {
      const { rows } = await this.#database.query(this.#statements.old, [handler, this.#halfMs])
      if (rows.length > 0) return true
    }
    return false
  }

  async #renewPage(letters: NonNullable<EffectsHost['deadLetters']>, signal: AbortSignal): Promise<number> {
    const page = await letters.list({ limit: LETTERS, order: 'oldest', after: this.#after })
    for (const { id, namespace } of page) {
      if (!canBeStored(id) || !canBeStored(namespace)) continue
      await this.#database.query(this.#statements.renew, [id, namespace, this.#halfMs])
    }
    // A step that was given up has lost its place.
    signal.throwIfAborted()
    this.#after = page.at(-1)?.cursor
    return page.length
  }

  get #halfMs(): number {
    return Math.floor(this.#retentionMs / 2)
  }
}

/** Processes that were started together take turns. */
function inTurn(ms: number): number {
  return ms * (0.5 + Math.random())
}

interface MarkKeeperOptions {
  readonly clock: DeletionClock
  readonly retentionMs: number
  /** Names of the handlers whose marks may be deleted. */
  readonly handlers: ReadonlySet<string>
  readonly letters: EffectsHost['deadLetters']
  readonly logger: EffectsHost['logger']
  readonly rounds: EffectsHost['rounds']
}

/** The newest time of which a file of SQLite tells. */
export const NEWEST_MARK = 'SELECT max(done_at) AS newest FROM ackhook_marks'

export interface KeeperStatements {
  /** Whether the handler has any mark of that age, which an index tells. Parameters: handler, milliseconds; as in `prune`. */
  readonly old: string
  /** Parameters: id, namespace, milliseconds. */
  readonly renew: string
  readonly prune: string
}

export function keeperStatements(dialect: Dialect): KeeperStatements {
  const now = NOW[dialect]
  const [T, B] = dialect === 'postgres' ? ['::text', '::bigint'] : ['', '']
  const isOld = `done_at <= ${now} - ?${B}`
  const old = `handler = ?${T} AND ${isOld}`
  const oldest = `${old} ORDER BY done_at LIMIT ${BATCH}`
  const skip = dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''
  const key = 'event_id, handler, namespace'
  // Some libraries do not return how many rows of SQLite have changed.
  const returned = dialect === 'sqlite' ? ' RETURNING 1 AS changed' : ''
  return {
    old: `SELECT 1 AS old FROM ackhook_marks WHERE ${old} LIMIT 1`,
    renew: `UPDATE ackhook_marks SET done_at = ${now} WHERE event_id = ?${T} AND namespace = ?${T} AND ${isOld}`,
    prune:
      dialect === 'mysql'
        ? `DELETE FROM ackhook_marks WHERE ${oldest}`
        : `DELETE FROM ackhook_marks WHERE (${key}) IN (SELECT ${key} FROM ackhook_marks WHERE ${oldest}${skip})${returned}`,
  }
}
