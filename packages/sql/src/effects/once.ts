import { setTimeout } from 'node:timers/promises'
import {
  AckhookError,
  ConfigurationError,
  type EffectsHost,
  type Effects as EffectsOfReceiver,
  type HandlerContext,
  type WebhookEvent,
} from '@ackhook/core'
import { refuseGenerator, refuseLazy } from '@ackhook/core/spi'
import { Database, type DatabaseOptions, type OpenTransaction, transactionOf } from '../database/database.ts'
import { DeletionClock } from '../database/deletion-clock.ts'
import type { Result } from '../database/dialect.ts'
import { RolledBack } from '../database/library.ts'
import { isLockedFile, isTransient } from '../database/transient.ts'
import type { TxOf } from '../database/tx-of.ts'
import { namingTables, withTables } from '../schema/check.ts'
import { MarkKeeper, NEWEST_MARK } from './mark-keeper.ts'
import { Busy, deleteMarks, type Mark, markOf, Reservation, requireName, requireText } from './marks.ts'
import { type ResolvedEffectsOptions, resolveEffectsOptions, type SqlEffectsOptions } from './options.ts'
import { checkAtStart } from './start-check.ts'

/** The part of an event that a mark needs. */
export interface EventWithId {
  readonly id: string
}

/** What came of an attempt: `'done'` if an earlier one had taken effect. */
export type OnceResult = 'ran' | 'done'

/** Handler for `on` that {@link SqlEffects.once} returns. Resolves to `'done'` if an earlier attempt had taken effect. */
export type OnceHandler<Event> = (event: Event, context: HandlerContext) => Promise<OnceResult>

/** Handlers whose effects and marks are in one database. */
export interface SqlEffects<Tx> extends EffectsOfReceiver {
  /**
   * Returns a handler for `on`. It opens a transaction and runs `work` in it; the event's mark and what `work` writes through
   * `tx` commit together, or neither does. If an attempt, a redelivery or another process finds the mark, `work` does not run,
   * and the event counts as handled.
   *
   * `name` identifies the handler in the marks: keep it when you rename or move code. Each handler needs its own, so that a
   * retry runs only those that failed. `work` may run several times within an attempt, if the database rolls it back for a
   * conflict; it must pass on SQL errors, write only through `tx`, and leave beginning and ending it to this function. What
   * it commits itself happens again if the attempt then fails.
   *
   * Throws `ConfigurationError` for a name that is taken. The handler rejects, and the event is retried, if the transaction
   * was not committed or the attempt's `signal` is aborted.
   */
  once<Event extends EventWithId = WebhookEvent>(
    name: string,
    work: (event: Event, tx: Tx, context: HandlerContext) => unknown,
  ): OnceHandler<Event>
  /**
   * Deletes the marks of an event, so that its handlers run again. Resolves to whether it had any. The `forget` of a receiver
   * with the option `effects` calls it.
   */
  forget(id: string, where?: { readonly namespace?: string | undefined }): Promise<boolean>
}

/** Repetitions that the database asks for, before the attempt fails. */
const MAX_REPETITIONS = 5
const LONGEST_PAUSE_MS = 500
/** How long an attempt waits for a connection, at least. */
const CONNECTION_MS = 10_000

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
    once: <Event extends EventWithId = WebhookEvent>(name: string, work: SqlWork<Event, TxOf<Db>>) =>
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

/** How far an attempt has come. */
interface AttemptState {
  /** It has no use for a connection any more. */
  isOver: boolean
  hasConnection: boolean
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
    const { dialect } = this.#database
    return withTables(dialect, () =>
      deleteMarks(dialect, (text, params) => this.#database.query(text, params), [event, where]),
    )
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
  async #repeat(mark: Mark, context: HandlerContext, work: (tx: object) => unknown): Promise<OnceResult> {
    const until = performance.now() + this.#options.waitMs
    let repetitions = 0
    for (let round = 0; ; round++) {
      context.signal.throwIfAborted()
      const attempt = { isOver: false, hasConnection: false, hasBegun: false, isOwnError: false }
      try {
        return await this.#runOnce(mark, context, work, attempt)
      } catch (error) {
        const isBusy = error instanceof Busy
        // Work that was rolled back is repeated a few times; a wait for another transaction, or for a file, lasts as long as it may.
        const isWait = isBusy || (!attempt.hasBegun && isLockedFile(error))
        const mayRepeat = isTransient(error) && !attempt.isOwnError && ++repetitions <= MAX_REPETITIONS
        if (!isWait && !mayRepeat)
          throw attempt.hasBegun ? notDone(error, mark) : namingTables(this.#database.dialect, error)
        if (performance.now() >= until) throw isBusy ? busy(error) : error
        const pauseMs = Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** Math.min(round, 10))
        // An aborted signal ends the pause, and the next round with it.
        await setTimeout(pauseMs, undefined, { signal: context.signal }).catch(() => {})
      }
    }
  }

  async #runOnce(
    mark: Mark,
    context: HandlerContext,
    work: (tx: object) => unknown,
    state: AttemptState,
  ): Promise<OnceResult> {
    // Many handlers may listen to one signal: Node warns of more than ten.
    const signal = AbortSignal.any([context.signal])
    const reservation = new Reservation(this.#database.dialect, mark, { isFirst: true })
    const attempt = async (tx: object, transaction: OpenTransaction, opened?: Result): Promise<boolean> => {
      state.hasConnection = true
      // The wait for a connection may have been long.
      signal.throwIfAborted()
      if (state.isOver) throw new Error('the connection came late')
      const claimed = await reservation.claim(transaction, opened)
      if (claimed === 'busy') throw new Busy(heldBy(mark))
      if (claimed === 'done') return false
      signal.throwIfAborted()
      state.hasBegun = true
      try {
        refuseLazy(await work(tx))
      } catch (error) {
        state.isOwnError = isTransient(error) && (await reservation.isIntact(transaction.query))
        throw error
      }
      // A result that no longer counts is rolled back.
      signal.throwIfAborted()
      if (opened === undefined) await reservation.finish(transaction)
      else reservation.close()
      return true
    }
    const { library, isolation } = this.#options
    const running = this.#database.transaction(attempt, {
      library,
      isolation,
      signal,
      opening: reservation.opening,
      closing: () => reservation.closing(),
      terminate: tx => reservation.terminate(tx),
    })
    try {
      return (await this.#untilGivenUp(running, signal, state)) ? 'ran' : 'done'
    } catch (error) {
      throw reservation.explained(error, { isOwn: false })
    }
  }

  /**
   * Settles like `running`. Rejects when the signal is aborted before the work has begun: what an attempt waits for may come
   * after it has ended, and is then rolled back. Rejects as well if the library brings no connection in time.
   */
  #untilGivenUp<R>(running: Promise<R>, signal: AbortSignal, state: AttemptState): Promise<R> {
    const ms = Math.max(this.#options.waitMs, CONNECTION_MS)
    return new Promise((resolve, reject) => {
      const giveUp = (error: unknown): void => {
        state.isOver = true
        reject(error)
      }
      const abort = (): void => {
        if (!state.hasBegun) giveUp(signal.reason)
      }
      const expire = (): void => {
        if (!state.hasConnection)
          giveUp(
            new AckhookError('effect_busy', `the database library brought no connection within ${ms} ms`),
          )
      }
      const timer = globalThis.setTimeout(expire, ms)
      signal.addEventListener('abort', abort, { once: true })
      const settled = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      running.finally(settled).then(resolve, reject)
    })
  }
}

function heldBy({ eventId }: Mark): string {
  return `another transaction is handling event '${eventId}'`
}

function notDone(error: unknown, { handler }: Mark): unknown {
  if (!(error instanceof RolledBack)) return error
  return new AckhookError('effect_rolled_back', `'${handler}' is not done: ${error.message}`, {
    cause: error,
  })
}

/**
 * Runs `work`, whose effects happen once, in a transaction that the application has opened, and sets the handler's mark after
 * it. Resolves to `'done'`, without `work`, if the event is done. The application's COMMIT makes both durable. Rejects if
 * `work` does, or if another transaction is handling the event: let yours roll back.
 *
 * Rejects with `ConfigurationError` outside of a transaction, where a crash would keep the mark and lose the effect, and with
 * code `effect_rolled_back` if `work` has ended the transaction.
 *
 * @example
 * async function count(tx: PoolClient, event: WebhookEvent, context: HandlerContext) {
 *   await onceIn(tx, 'count', event, context, () => tx.query('UPDATE counters SET value = value + 1'))
 * }
 */
export async function onceIn(
  tx: object,
  name: string,
  event: EventWithId,
  context: DatabaseOptions & { readonly namespace: string },
  work: () => unknown,
): Promise<OnceResult> {
  const mark = markOf(event.id, name, context.namespace)
  if (typeof work !== 'function') throw new ConfigurationError('work', 'must be a function () => the effect')
  const transaction = await transactionOf(tx, { dialect: context.dialect })
  const { dialect } = transaction
  const reservation = new Reservation(dialect, mark, { isFirst: false })
  const claimed = await withTables(dialect, () => reservation.claim(transaction))
  if (claimed === 'busy') throw busy(new Busy(heldBy(mark)))
  if (claimed === 'done') return 'done'
  refuseLazy(await work())
  try {
    await reservation.finish(transaction)
    return 'ran'
  } catch (error) {
    throw error instanceof Busy ? busy(error) : notDone(error, mark)
  }
}
