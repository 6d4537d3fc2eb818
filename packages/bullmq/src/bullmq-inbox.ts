import {
  AckhookError,
  ConfigurationError,
  type Delivery,
  type DrainReport,
  type Inbox,
  type InboxStats,
  type MaybePromise,
} from '@ackhook/core'
import { dropOldLetters, redriveCommand, shareHandlers } from '@ackhook/core/sharing'
import {
  type AcceptResult,
  type ActivitySource,
  type DeadLetterStore,
  type InboxProcess,
  type MinuteCount,
  type PresenceStore,
  type ProcessEvent,
  type ProcessingPolicy,
  settlesWithin,
  withDeadline,
} from '@ackhook/core/spi'
import { Acceptor } from './accepting/acceptor.ts'
import { cliPlace } from './cli-place.ts'
import { createEngine } from './create-engine.ts'
import type { Engine } from './engine/engine.ts'
import type { InboxView } from './engine/event-board.ts'
import { jobIdOf } from './engine/event-job.ts'
import { askEngine, checkStart, type EngineSource, startError, startWhenReady } from './engine/reaching.ts'
import { BROWSING, browse, lookUp } from './operating/browse.ts'
import { createDeadLetters } from './operating/dead-letters.ts'
import { createErasure } from './operating/erasure.ts'
import { createHandling, PauseWatch } from './operating/handling.ts'
import { NoticeWatch } from './operating/notice-watch.ts'
import { QueueWatch } from './operating/queue-watch.ts'
import { Stats } from './operating/stats.ts'
import { type BullmqInboxOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { MinuteCounter } from './processing/minute-counter.ts'
import { OutageLog } from './processing/outage-log.ts'
import { QueueConsumer } from './processing/queue-consumer.ts'
import { Pruner } from './retention/pruner.ts'

/** 10 s, 50 s, 4 min, 21 min, 1.7 h, 9 h and 12 h apart, each less a random part: 11 to 23 h in all. */
const RETRY = { attempts: 8, minDelayMs: 10_000, maxDelayMs: 43_200_000, factor: 5 }
const CANNOT_SERIALIZE =
  "BullMQ on Redis cannot run a key's events one at a time, because it cannot end one and start the next in a single step; use bullmqInbox on PostgreSQL or sqliteInbox, or leave the option out and let handlers compare created_at"
const CANNOT_SHARE_SLOTS =
  'BullMQ hands events out in their order, whatever their group: write concurrency as a number, and give slow events a queue of their own, as in "Quick events beside slow ones" in the README of @ackhook/bullmq'
const CLOSE_MS = 1000
/** About ten round trips, perhaps to another continent or to a server that is waking up. */
const START_MS = 5000
const ASK_MS = 5000
/** Longest time a start waits for the first count: PostgreSQL counts a million waiting events in a seventh of a second. */
const COUNT_MS = 1000
const MIGRATION_MS = 60_000

/**
 * The durable inbox for many machines: BullMQ on Redis or PostgreSQL. A 2xx is sent only after the server has stored
 * the event, as durably as the server's own settings allow. With `concurrency: 0` a process only receives; a process
 * whose receiver is never mounted only runs handlers. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const hooks = webhooks({ secret, inbox: bullmqInbox({ connection: 'redis://localhost:6379' }) })
 */
export function bullmqInbox(options: BullmqInboxOptions): Inbox {
  const resolved = resolveOptions(options)
  const inbox = new BullmqInbox(resolved)
  const place = cliPlace(resolved)
  // A plain object, so that a wrapper can spread it.
  return {
    durable: true,
    location: locationOf(resolved),
    redriveCommand: event => place && redriveCommand(place, event),
    defaultRetry: RETRY,
    defaultCapacity: 100_000,
    ...(resolved.engine.kind === 'redis' && { cannotSerialize: CANNOT_SERIALIZE }),
    cannotShareSlots: CANNOT_SHARE_SLOTS,
    start: (work, policy) => inbox.start(work, policy),
    accept: delivery => inbox.accept(delivery),
    close: timeoutMs => inbox.close(timeoutMs),
    stats: () => inbox.stats(),
    statsBeforeStart: () => statsOnce(resolved),
    deadLetters: inbox.deadLetters,
    handling: createHandling((operation, question) => inbox.ask(operation, question)),
    forget: key => inbox.forget(key),
    lookup: key => lookUp(inbox, key),
    browse: query => browse(inbox, query),
    erasure: createErasure((operation, question) => inbox.ask(operation, question)),
    browsing: BROWSING[resolved.engine.kind],
    processes: () => inbox.processes(),
    throughput: () => inbox.throughput(),
    activity: { read: query => inbox.ask('activity', ({ board }) => board.activity.read(query)) },
  }
}

/** Counts over connections that end afterward: those that stay would keep the process alive. */
async function statsOnce(options: ResolvedOptions): Promise<InboxStats> {
  const reader = new BullmqInbox({ ...options, create: false })
  try {
    return await reader.stats()
  } catch (error) {
    // Without a queue nothing waits.
    if (error instanceof ConfigurationError && error.option === 'queue')
      return { pending: 0, active: 0, dead: 0, oldestPendingMs: 0 }
    throw error
  } finally {
    await reader.close(0)
  }
}

class BullmqInbox implements EngineSource {
  readonly deadLetters: DeadLetterStore
  readonly #options: ResolvedOptions
  #opening: Promise<Engine> | undefined
  /** Result of `#opening`. */
  #engine: Engine | undefined
  /** The engine of the last start, which ends it itself if it fails. */
  #started: Engine | undefined
  /** Counts of `#engine`. */
  #stats: Stats | undefined
  #worker: QueueConsumer | undefined
  #acceptor: Acceptor | undefined
  #pruner: Pruner | undefined
  #minutes: MinuteCounter | undefined
  #activity: ActivitySource | undefined
  #notices: NoticeWatch | undefined
  #pauses: PauseWatch | undefined
  #stopDropping = (): void => {}
  #shuttingDown: Promise<void> | undefined
  /** Lasts from a start until its connections are closed. */
  #session = { isOver: false }
  #closed = false

  constructor(options: ResolvedOptions) {
    this.#options = options
    this.deadLetters = createDeadLetters(this)
  }

  /** Returns the engine. The first call creates it. */
  async open(): Promise<Engine> {
    if (this.#closed) throw closedError()
    this.#opening ??= createEngine(this.#options).then(
      engine => {
        this.#engine = engine
        this.#stats = new Stats(engine)
        return engine
      },
      error => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  failedToConnect(engine: Engine): void {
    if (engine !== this.#started) this.#shutDown(engine)
  }

  async start(work: ProcessEvent, given: ProcessingPolicy): Promise<void> {
    if (given.serialize && this.#options.engine.kind === 'redis')
      throw new ConfigurationError('serializeBy', CANNOT_SERIALIZE)
    await startWhenReady(START_MS, leftMs => this.#startOnce(work, given, leftMs))
  }

  async #startOnce(work: ProcessEvent, given: ProcessingPolicy, timeoutMs: number): Promise<void> {
    const policy = this.#untilShutDown(given)
    const engine = await this.open()
    this.#started = engine
    const outages = new OutageLog(policy.observe, 'prune', engine)
    const pruner = new Pruner(engine, policy, error => outages.report(error))
    const minutes = new MinuteCounter(minute => engine.board.count(minute))
    const pauses = new PauseWatch(policy, cliPlace(this.#options))
    try {
      await withinStartTime(this.#begin(engine, work, policy, { pruner, minutes, pauses }), timeoutMs, engine)
    } catch (cause) {
      // BullMQ keeps a failed start forever. A start that was merely slow must not take effect during the next one,
      // which has its own connections.
      void pruner.stop()
      this.#shutDown(engine)
      throw cause instanceof AckhookError ? cause : startError(engine.reasonOf(cause))
    }
    this.#acceptor = new Acceptor(engine, policy, pruner, () => minutes.add('received'))
    this.#minutes = minutes
    this.#activity = given.activity
    given.activity?.begin(slots => engine.board.activity.add(slots))
    this.#pruner = pruner
    pruner.start()
    this.#notices?.stop()
    this.#notices = new NoticeWatch(new QueueWatch(engine, policy), policy)
    this.#notices.start()
    this.#pauses?.stop()
    this.#pauses = pauses
    pauses.start(engine)
    this.#stopDropping()
    this.#stopDropping = dropOldLetters(this.deadLetters, policy)
  }

  accept(delivery: Delivery): MaybePromise<AcceptResult> {
    if (this.#acceptor === undefined)
      throw new ConfigurationError('inbox', 'start() must come before the first event')
    return this.#acceptor.accept(delivery)
  }

  forget(key: string): Promise<boolean> {
    return this.ask('forget', engine => engine.forget(jobIdOf(key)))
  }

  processes(): Promise<readonly InboxProcess[]> {
    return this.ask('processes', async ({ board }) => (await board.read()).processes)
  }

  stats(): Promise<InboxStats> {
    return this.ask('stats', async () => this.#stats!.read())
  }

  throughput(): Promise<readonly MinuteCount[]> {
    return this.ask('throughput', ({ board }) => board.minutes())
  }

  ask<T>(operation: string, question: (engine: Engine) => Promise<T>): Promise<T> {
    return askEngine(this, question, { operation, ms: ASK_MS })
  }

  async close(timeoutMs: number): Promise<DrainReport> {
    this.#closed = true
    this.#notices?.stop()
    this.#pauses?.stop()
    this.#stopDropping()
    const engine = await this.#opening?.catch(() => undefined)
    const worker = this.#worker
    this.#worker = undefined
    await Promise.all([worker?.drain(timeoutMs), this.#acceptor?.settled(), this.#pruner?.stop()])
    await settlesWithin(Promise.all([this.#minutes?.flush(), this.#activity?.end()]), CLOSE_MS)
    if (engine !== undefined) this.#shutDown(engine)
    await this.#shuttingDown
    return { lost: 0 }
  }

  async #begin(
    engine: Engine,
    work: ProcessEvent,
    policy: ProcessingPolicy,
    {
      pruner,
      minutes,
      pauses,
    }: { readonly pruner: Pruner; readonly minutes: MinuteCounter; readonly pauses: PauseWatch },
  ): Promise<void> {
    await checkStart(engine, START_MS, policy)
    const mustNotGoOn = () => this.#closed || this.#engine !== engine
    if (mustNotGoOn()) throw closedError()
    const counted = settlesWithin(this.stats(), COUNT_MS)
    await shareHandlers(
      withReasons(engine, view => pauses.see(view)),
      policy,
    )
    // A worker that begins after this start has failed would never be drained.
    if (mustNotGoOn()) throw closedError()
    const onError = (error: Error) => pruner.relieve(error)
    const { limits, limiter } = this.#options
    if (policy.concurrency > 0)
      this.#worker ??= new QueueConsumer(engine, work, policy, { limits, limiter, minutes, onError })
    await Promise.all([this.#worker?.ready(), counted])
  }

  /** Ignores failures of calls that are pending when the connections are closed: they are no outage. */
  #untilShutDown(policy: ProcessingPolicy): ProcessingPolicy {
    const session = { isOver: false }
    this.#session = session
    return {
      ...policy,
      observe: observation => {
        if (!session.isOver || observation.kind !== 'store_down') policy.observe(observation)
      },
    }
  }

  /** Removes the engine from this inbox. The next call opens another one. */
  #shutDown(engine: Engine): void {
    if (this.#engine !== engine) return
    this.#session.isOver = true
    const [worker, earlier] = [this.#worker, this.#shuttingDown]
    this.#stats?.stop()
    this.#opening = this.#engine = this.#stats = this.#worker = undefined
    this.#shuttingDown = (async () => {
      if (worker !== undefined) await settlesWithin(worker.drain(0), CLOSE_MS)
      await settlesWithin(engine.close(), CLOSE_MS)
      await settlesWithin(engine.disconnect(), CLOSE_MS)
      await earlier
    })()
  }
}

/** The engine's board. Core reads it twice a second, and reports its failures. */
function withReasons(engine: Engine, onView: (view: InboxView) => void): PresenceStore {
  const explained = <T>(answer: Promise<T>) =>
    answer.catch(error => {
      throw engine.reasonOf(error)
    })
  return {
    publish: async own => explained(Promise.resolve(engine.board.publish(own))),
    read: async () => {
      const view = await explained(engine.board.read())
      onView(view)
      return view
    },
  }
}

/** Names the inbox in core's messages. */
function locationOf({ queue, prefix }: ResolvedOptions): string {
  return prefix === undefined ? `queue '${queue}'` : `queue '${queue}' with the prefix '${prefix}'`
}

/** Allows more time only for the creation of tables, which is rolled back if a start gives up. */
async function withinStartTime(begun: Promise<void>, ms: number, { migrating }: Engine): Promise<void> {
  const operation = 'inbox.start'
  if (migrating === undefined) return withDeadline(begun, { operation, ms })
  await withDeadline(Promise.race([begun, migrating]), { operation, ms })
  return withDeadline(begun, { operation, ms: MIGRATION_MS })
}

function closedError(): AckhookError {
  return new AckhookError('inbox_unavailable', 'The inbox is closed: create another one with bullmqInbox().')
}
