import { setTimeout } from 'node:timers/promises'
import {
  AckhookError,
  ConfigurationError,
  type EffectsHost,
  type Effects as EffectsOfReceiver,
  type HandlerContext,
} from '@ackhook/core'
import { isError, refuseGenerator, refuseLazy } from '@ackhook/core/spi'
import { Database, type DatabaseOptions, type OpenTransaction, transactionOf } from '../database/database.ts'
import { DeletionClock } from '../database/deletion-clock.ts'
import { isOutside } from '../database/drivers.ts'
import { RolledBack, untilAborted } from '../database/library.ts'
import { isLockedFile, isTransient } from '../database/transient.ts'
import type { TxOf } from '../database/tx-of.ts'
import { withTables } from '../schema/check.ts'
import { MarkKeeper } from './mark-keeper.ts'
import {
  claimMark,
  deleteMark,
  deleteMarks,
  hasMark,
  type Mark,
  markOf,
  requireName,
  requireText,
} from './marks.ts'
import { type ResolvedEffectsOptions, resolveEffectsOptions, type SqlEffectsOptions } from './options.ts'
import { checkAtStart } from './start-check.ts'

/** The part of an event that a mark needs. */
export interface EventWithId {
  readonly id: string
}

/** Handler for `on` that {@link SqlEffects.once} returns. Resolves to `'done'` if an earlier attempt had taken effect. */
export type OnceHandler<Event> = (event: Event, context: HandlerContext) => Promise<'ran' | 'done'>

/** Handlers whose effects and marks are in one database. */
export interface SqlEffects<Tx> extends EffectsOfReceiver {
  /**
   * Returns a handler for `on`. It opens a transaction and runs `work` in it; the event's mark and what `work` writes through
   * `tx` commit together, or neither does. If an attempt, a redelivery or another process finds the mark, `work` does not run,
   * and the event counts as handled.
   *
   * `name` identifies the handler in the marks: keep it when you rename or move code. Each handler needs its own, so that a
   * retry runs only those that failed. `work` may run several times within an attempt, if the database rolls it back for a
   * conflict; it must pass on SQL errors, and write only through `tx`.
   *
   * Throws `ConfigurationError` for a name that is taken. The handler rejects, and the event is retried, if the transaction
   * was not committed or the attempt's `signal` is aborted.
   */
  once<Event extends EventWithId>(
    name: string,
    work: (event: Event, tx: Tx, context: HandlerContext) => unknown,
  ): OnceHandler<Event>
  /**
   * Deletes the marks of an event, so that its handlers run again. Resolves to whether it had any. The `forget` of a receiver
   * with the option `effects` calls it.
   */
  forget(id: string, where?: { readonly namespace?: string | undefined }): Promise<boolean>
}

const NEWEST_MARK = 'SELECT max(done_at) AS newest FROM ackhook_once'

/** Repetitions that the database asks for, before the attempt fails. */
const MAX_REPETITIONS = 5
const LONGEST_PAUSE_MS = 500
const LEFT =
  'the handler ended its transaction itself and failed, and its mark could not be deleted: the next attempt takes it for done'

/** Another transaction holds the mark. */
class Busy extends Error {
  override readonly name = 'Busy'
}

/** An ordinary failure, which the option `retry` repeats: another transaction may hold the mark for hours. */
function busy({ message }: Error): AckhookError {
  return new AckhookError('effect_busy', message)
}

/**
 * Makes effects in the application's own database happen exactly once. `db` is a pool or an ORM; the tables come from
 * `ackhook sql`.
 *
 * Throws `ConfigurationError` for a wrong option or an unknown database object.
 *
 * @example
 * const { once } = sqlEffects(new Pool({ connectionString: url }))
 * hooks.on('conversation.resolved', once('count', async (event, tx) => {
 *   await tx.query('INSERT INTO resolutions VALUES ($1)', [event.data.conversation_id])
 * }))
 */
export function sqlEffects<Db extends object>(db: Db, options: SqlEffectsOptions = {}): SqlEffects<TxOf<Db>> {
  const database = new Database(db, { dialect: options.dialect })
  const resolved = resolveEffectsOptions(options)
  database.checkSettings(resolved)
  const effects = new Effects(database, resolved)
  // Functions, so that an application can take them out of the object.
  return {
    once: <Event extends EventWithId>(name: string, work: SqlWork<Event, TxOf<Db>>) =>
      effects.once(name, work as Work<Event>),
    forget: (id, where) => effects.forget(id, where?.namespace),
    start: host => effects.start(host),
  }
}

type SqlWork<Event, Tx> = (event: Event, tx: Tx, context: HandlerContext) => unknown
type Work<Event> = SqlWork<Event, never>

/** Handlers of `once` that run now, by attempt, connections and name. */
const attempts = new WeakMap<HandlerContext, Map<object, Map<string, unknown>>>()

function taken(name: string): ConfigurationError {
  return new ConfigurationError('name', `'${name}' is taken by another handler, and this one would never run`)
}

/** What an attempt's error means. */
interface AttemptState {
  /** The handler's work has begun. */
  hasBegun: boolean
  /** The work has failed in a transaction that is intact: whatever its error says, this database did not ask to repeat it. */
  isOwnError: boolean
}

class Effects {
  readonly #database: Database
  readonly #options: ResolvedEffectsOptions
  readonly #names = new Set<string>()

  constructor(database: Database, options: ResolvedEffectsOptions) {
    this.#database = database
    this.#options = options
  }

  once<Event extends EventWithId>(name: string, work: Work<Event>): OnceHandler<Event> {
    requireName(name)
    if (this.#names.has(name)) throw taken(name)
    if (typeof work !== 'function')
      throw new ConfigurationError('work', 'must be a function (event, tx, context)')
    refuseGenerator('work', work)
    this.#names.add(name)
    return async (event, context) => {
      const mark = markOf(event.id, name, context.namespace)
      const end = this.#begin(name, work, context)
      try {
        return await this.#repeat(mark, context, tx => work(event, tx as never, context))
      } finally {
        end()
      }
    }
  }

  /**
   * Throws if another handler of this attempt has the same name, from another `sqlEffects` over the same connections: one of
   * them would never run. All handlers of an attempt begin before any ends. Returns what ends this one.
   */
  #begin(name: string, work: unknown, context: HandlerContext): () => void {
    const { connections } = this.#database
    const known = attempts.get(context) ?? new Map<object, Map<string, unknown>>()
    const names = known.get(connections) ?? new Map<string, unknown>()
    attempts.set(context, known.set(connections, names))
    if ((names.get(name) ?? work) !== work) throw taken(name)
    names.set(name, work)
    return () => names.delete(name)
  }

  async forget(id: string, namespace = ''): Promise<boolean> {
    const [event, where] = [requireText('id', id), requireText('namespace', namespace)]
    return withTables(this.#database.dialect, () => deleteMarks(this.#outside(), event, where))
  }

  async start(host: EffectsHost): Promise<() => void> {
    await checkAtStart(this.#database, host)
    const { retentionMs } = this.#options
    if (retentionMs === undefined) return () => {}
    const clock = new DeletionClock(this.#database.dialect)
    await clock.start(() => this.#database.query(NEWEST_MARK))
    const keeper = new MarkKeeper(this.#database, {
      clock,
      retentionMs,
      handlers: this.#names,
      letters: host.deadLetters,
      logger: host.logger,
      rounds: host.rounds,
    })
    keeper.start()
    return () => keeper.stop()
  }

  /** Repeats the transaction while the database asks for it, and waits without a connection. */
  async #repeat(mark: Mark, context: HandlerContext, work: (tx: object) => unknown): Promise<'ran' | 'done'> {
    const until = performance.now() + this.#options.waitMs
    let repetitions = 0
    for (let round = 0; ; round++) {
      context.signal.throwIfAborted()
      const attempt: AttemptState = { hasBegun: false, isOwnError: false }
      try {
        return await this.#runOnce(mark, context, work, attempt)
      } catch (error) {
        const isBusy = error instanceof Busy
        // Work that was rolled back is repeated a few times; a wait for another transaction, or for a file, lasts as long as it may.
        const isWait = isBusy || (!attempt.hasBegun && isLockedFile(error))
        const mayRepeat = isTransient(error) && !attempt.isOwnError && ++repetitions <= MAX_REPETITIONS
        if (!isWait && !mayRepeat) throw this.#explained(error, mark)
        if (performance.now() >= until) throw isBusy ? busy(error) : error
        const pauseMs = Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** Math.min(round, 10))
        // An aborted signal ends the pause, and the next round with it.
        await setTimeout(pauseMs, undefined, { signal: context.signal }).catch(() => {})
      }
    }
  }

  async #runOnce(
    mark: Mark,
    { signal }: HandlerContext,
    work: (tx: object) => unknown,
    state: AttemptState,
  ): Promise<'ran' | 'done'> {
    const { library, isolation } = this.#options
    const settings = { library, isolation, signal }
    let claimedAt = 0
    /** A statement of `work` has ended the transaction, as some do on MySQL, and so kept the mark. */
    let isLeft = false
    const attempt = async (tx: object, transaction: OpenTransaction): Promise<boolean> => {
      // The wait for a connection may have been long.
      signal.throwIfAborted()
      const claimed = await claimMark(transaction, mark, { isFirst: true })
      if (claimed === 'busy') throw new Busy(heldBy(mark))
      if (claimed === 'done') return false
      signal.throwIfAborted()
      claimedAt = performance.now()
      state.hasBegun = true
      try {
        refuseLazy(await work(tx))
      } catch (error) {
        const where = await isOutside(transaction.query, transaction.dialect).catch(() => 'aborted' as const)
        state.isOwnError = where === false
        isLeft = where === true && !isTransient(error)
        throw error
      }
      await requireMark(transaction, mark)
      // A result that no longer counts is rolled back.
      signal.throwIfAborted()
      return true
    }
    const running = this.#database.transaction(attempt, settings).catch(async error => {
      // The mark of a handler that failed would keep its next attempt from running.
      if (isLeft) await this.#deleteLeft(mark, claimedAt, signal)
      throw error
    })
    // What an attempt waits for may come after it has ended, and is then rolled back: its work never begins.
    const hasRun = await untilAborted(running, signal, () => !state.hasBegun)
    if (hasRun && this.#database.doubtsCommit) await this.#confirm(mark)
    return hasRun ? 'ran' : 'done'
  }

  /** Tries again for as long as the attempt may take: a mark that stays makes the next attempt skip its work. */
  async #deleteLeft(mark: Mark, claimedAt: number, signal: AbortSignal): Promise<void> {
    for (let round = 0; ; round++) {
      try {
        await deleteMark(this.#outside(), mark, performance.now() - claimedAt)
        return
      } catch (cause) {
        if (signal.aborted) throw new Error(LEFT, { cause })
        const pauseMs = Math.min(LONGEST_PAUSE_MS, 10 * 2 ** Math.min(round, 10))
        await setTimeout(pauseMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Reads a mark after a COMMIT that the library may have reported although the database rolled back. */
  async #confirm(mark: Mark): Promise<void> {
    if (await hasMark(this.#outside(), mark)) return
    throw new RolledBack('COMMIT was reported, and rolled back: behind PgBouncer, set prepare: false')
  }

  /** Runs statements outside of any transaction. */
  #outside(): OpenTransaction {
    const { dialect } = this.#database
    return { dialect, query: (text, params) => this.#database.query(text, params) }
  }

  #explained(error: unknown, { handler }: Mark): unknown {
    if (!(error instanceof RolledBack)) return error
    return new AckhookError('effect_rolled_back', `nothing of '${handler}' was kept: ${error.message}`, {
      cause: error,
    })
  }
}

function heldBy({ eventId }: Mark): string {
  return `another transaction is handling event '${eventId}'`
}

/**
 * Reads the mark in the transaction, before its COMMIT. If `work` has swallowed an SQL error, the transaction may be gone:
 * PostgreSQL then answers COMMIT with ROLLBACK, which libraries report as success, and MySQL goes on without a transaction
 * after a deadlock.
 */
async function requireMark(transaction: OpenTransaction, mark: Mark): Promise<void> {
  const isThere = await hasMark(transaction, mark).catch((cause: unknown) => {
    if (isTransient(cause)) throw cause
    const reason = isError(cause) ? cause.message : String(cause)
    throw new RolledBack(
      `after the handler, the transaction was unusable (${reason}). Do not catch SQL errors in it`,
      {
        cause,
      },
    )
  })
  if (!isThere)
    throw new RolledBack('the transaction was rolled back inside the handler. Do not catch SQL errors in it')
}

/**
 * Sets a handler's mark in a transaction that the application has opened. Resolves to whether the effect is still to be made;
 * `false` if the event is done. The application's COMMIT makes both durable. Rejects if another transaction is handling the
 * event: let yours roll back.
 *
 * Rejects with `ConfigurationError` outside of a transaction, where a crash would keep the mark and lose the effect.
 *
 * @example
 * async function count(tx: PoolClient, event: WebhookEvent, context: HandlerContext) {
 *   if (await onceIn(tx, 'count', event, context)) await tx.query('UPDATE counters SET value = value + 1')
 * }
 */
export async function onceIn(
  tx: object,
  name: string,
  event: EventWithId,
  context: DatabaseOptions & { readonly namespace: string },
): Promise<boolean> {
  const mark = markOf(event.id, name, context.namespace)
  const claimed = await claimMark(await transactionOf(tx, { dialect: context.dialect }), mark, {
    isFirst: false,
  })
  if (claimed === 'busy') throw busy(new Busy(heldBy(mark)))
  return claimed === 'claimed'
}
