import { CreatedBy } from '#evaluation'
import { platform } from '#platform'
import { ConfigurationError, unreportedCopies } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { createDecoder } from '../events/decode-event.ts'
import { type EventHandler, type EventSchemas, type EventsOf, KNOWN_TYPES } from '../events/event-types.ts'
import { ActivityCounter } from '../inbox/activity-counter.ts'
import type { EventLookup } from '../inbox/browse.ts'
import { createDeliveryFactory, eventKey, eventRef } from '../inbox/delivery.ts'
import type { DeadLetter, DeadLetterStore, Inbox, ListOptions, ProcessingPolicy } from '../inbox/inbox.ts'
import { groupOf, readGroups } from '../inbox/letter-group.ts'
import { oneOf, refuseUnknownNames, wholeNumber } from '../lib/check-option.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { RoundsBoard } from '../lib/rounds.ts'
import { FailureLog } from '../observe/failure-log.ts'
import { guardClock } from '../observe/guards.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import { Observers } from '../observe/observers.ts'
import { SecretUse } from '../verify/secret-use.ts'
import { createSecrets } from '../verify/secrets.ts'
import { TimestampWatch } from '../verify/timestamp-watch.ts'
import { createVerifier } from '../verify/verify-request.ts'
import { HandlerRegistry } from '../worker/handler-registry.ts'
import { ReceiverHandlers } from '../worker/receiver-handlers.ts'
import { reportUnknownPatterns, warnWithoutHandlers } from '../worker/unhandled-log.ts'
import { createWorker, inOwnContext, type WorkerParts } from '../worker/worker.ts'
import { DeliveryTaps } from './delivery-taps.ts'
import { forgetHandled, startOf } from './effects.ts'
import { reportForgottenStart } from './forgotten-start.ts'
import { createRequestHandler, type HandleRequestParts } from './handle-request.ts'
import { createIngest, type IngestParts } from './ingest.ts'
import {
  type Inspectable,
  type InspectedReceiver,
  TRACING,
  type Tracing,
  type WrapProcess,
} from './inspect.ts'
import { Lifecycle } from './lifecycle.ts'
import { type ReceiverOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { QueueLog } from './queue-log.ts'
import type { DeadLetters, InNamespace, Receiver } from './receiver.ts'
import { Silence } from './silence.ts'

/**
 * Creates a receiver. Throws `ConfigurationError` for an invalid option.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'] })
 * receiver.on('conversation.resolved', async event => {
 *   await crm.close(event.data.conversation_id)
 * })
 */
export function createReceiver<
  const Schemas extends EventSchemas = Record<never, never>,
  Context = unknown,
  Strict extends boolean = boolean,
>(options: ReceiverOptions<Schemas, Context, Strict>): Receiver<EventsOf<Schemas, Strict>, Context> {
  const resolved = resolveOptions<Context>(options)
  const { schemas, strict, expected, inbox, logger } = resolved
  const handlers = new HandlerRegistry({ known: [...KNOWN_TYPES, ...Object.keys(schemas)], strict })
  const wraps: WrapProcess[] = []
  const observers = new Observers(resolved.observe, resolved.logger)
  // Verification alone uses the user's clock unguarded: without a time, nothing is proven.
  const clock = guardClock(resolved.clock)
  const silence = new Silence({ expected, inbox, clock, logger, observers })
  const parts: ReceiverParts = { clock, handlers, observers, wraps, silence, rounds: new RoundsBoard() }
  const { handle, ingest, ...running } = connect(resolved, parts)
  const { lifecycle } = running
  const inspected = inspectedOf(resolved, { ...parts, ...running })
  const receiver: Receiver<EventsOf<Schemas, Strict>, Context> & Inspectable = {
    on(type, handler) {
      handlers.add(type, handler as EventHandler<never>)
      return this
    },
    onUnhandled(handler) {
      handlers.addListener('onUnhandled', handler)
      return this
    },
    onError(handler) {
      handlers.addListener('onError', handler)
      return this
    },
    onDeadLetter(handler) {
      handlers.addListener('onDeadLetter', handler)
      return this
    },
    handle,
    ingest,
    start: () => lifecycle.start(),
    close: async options => lifecycle.close(drainTimeoutOf(options)),
    stats: async () => inbox.stats(),
    forget: async (id, where) =>
      forgetHandled(resolved, await checkedKey(id, where), { id, namespace: where?.namespace ?? '' }),
    lookup: async (id, where) => lookUp(inbox, await checkedKey(id, where)),
    deadLetters: deadLettersOf(inbox.deadLetters, observers),
    subscribe: observer => observers.add(observer),
    inspect: () => inspected,
  }
  return receiver
}

const NO_LOOKUP = 'upgrade its package, or list what waits with its own tools'

/** Margin for an attempt whose event the inbox had taken from its engine before the engine failed. */
const TAKEN_BEFORE_MS = 5000

interface ReceiverParts {
  readonly clock: () => number
  readonly handlers: HandlerRegistry
  readonly observers: Observers
  readonly wraps: WrapProcess[]
  readonly silence: Silence
  readonly rounds: RoundsBoard
}

interface Running {
  readonly lifecycle: Lifecycle
  readonly taps: DeliveryTaps
  readonly outage: InspectedReceiver['outage']
}

/** Picks what tools may see and do. */
function inspectedOf(
  { inbox, logger, capacity, contract }: ResolvedOptions<never>,
  { handlers, observers, wraps, silence, rounds, lifecycle, taps, outage }: ReceiverParts & Running,
): InspectedReceiver {
  return {
    inbox,
    logger,
    capacity,
    contract,
    observe: observation => observers.observe?.(observation),
    state: () => lifecycle.state,
    silence: () => silence.state,
    outage,
    isStopping: () => lifecycle.isStopping,
    beginStop: () => lifecycle.beginStop(),
    rounds,
    isNeverStarted: () => lifecycle.isNeverStarted,
    keepStarting: options => lifecycle.keepStarting(options),
    tapDeliveries: tap => taps.add(tap),
    wrap(wrap) {
      handlers.check('wrap', wrap)
      wraps.push(wrap)
    },
  }
}

/** Connects the parts between a request and its handlers. */
function connect<Context>(
  resolved: ResolvedOptions<Context>,
  { clock, handlers, observers, wraps, silence, rounds }: ReceiverParts,
): Pick<Receiver<never, Context>, 'handle' | 'ingest'> & Running {
  const { inbox, logger, namespace, concurrency, capacity, contract, schemas, handlerWaitMs } = resolved
  const { [TRACING]: tracing } = (resolved.observe ?? {}) as { [TRACING]?: Tracing }
  const queue = new QueueLog({ inbox, capacity, logger, observers })
  const failures = new FailureLog(logger, () => queue.fullness())
  const taps = new DeliveryTaps(logger)
  const decode = createDecoder(contract, schemas, taps)
  // Captured now, not at start, which may happen within the first request.
  const asyncContext = platform.captureContext()
  function observe(observation: Observation): void {
    observers.observe?.(observation)
    failures.observed(observation)
  }
  const { location } = inbox
  const activity = inbox.activity && new ActivityCounter({ logger, observe })
  const sharing = new ReceiverHandlers({ handlers, clock, handlerWaitMs, namespace, location })
  const lifecycle = new Lifecycle({
    inbox,
    startEffects: startOf(resolved, rounds),
    sharing,
    queue,
    createdBy: CreatedBy.find(createReceiver, inbox, logger),
    started: begunAt => failures.worked(begunAt),
    policy: policyOf(resolved, {
      clock,
      observe,
      activity,
      rounds,
      handlers: concurrency > 0 ? sharing : undefined,
    }),
    createProcess() {
      freeze(handlers, concurrency > 0, logger)
      silence.start(() => lifecycle.isDraining)
      const worked = (): void => failures.worked(performance.now() - TAKEN_BEFORE_MS)
      const onAttempt = inbox.durable === true ? worked : undefined
      const own = { clock, handlers, observers, sharing, decode, activity, onAttempt }
      const work = createWorker(workerParts(resolved, own))
      const tools = { decode, countHandlers: (type: string) => handlers.match(type).length }
      const all = tracing ? [tracing.wrap, ...wraps] : wraps
      const run = all.reduce((wrapped, wrap) => wrap(wrapped, tools), work)
      return inOwnContext(asyncContext, run)
    },
  })
  reportForgottenStart({ inbox, logger, isNeverStarted: () => lifecycle.isNeverStarted })
  const own = { inbox: lifecycle, decode, failures, queue, observers, activity }
  const steps = stepsOf(resolved, own, clock, tracing)
  return {
    lifecycle,
    taps,
    outage: () => failures.state,
    handle: createRequestHandler(steps),
    ingest: createIngest(ingestParts(resolved, steps, clock)),
  }
}

function freeze(handlers: HandlerRegistry, runsHandlers: boolean, logger: Logger): void {
  if (handlers.freeze() && runsHandlers) {
    warnWithoutHandlers(logger, handlers)
    reportUnknownPatterns(logger, handlers)
  }
  warnOfCopies(logger)
}

function workerParts(
  resolved: ResolvedOptions<never>,
  own: Pick<
    WorkerParts,
    'clock' | 'handlers' | 'observers' | 'sharing' | 'decode' | 'activity' | 'onAttempt'
  >,
): WorkerParts {
  return {
    ...own,
    schemas: resolved.schemas,
    retry: resolved.retry,
    handlerTimeoutMs: resolved.handlerTimeoutMs,
    logger: resolved.logger,
    acknowledge: resolved.acknowledge,
    keepsInvalid: resolved.keepsInvalid,
    inbox: resolved.inbox,
    observe: resolved.observe,
  }
}

/** Picks the port's fields by name: an inbox sees neither the secret nor anything else of the receiver. */
function policyOf(
  resolved: ResolvedOptions<never>,
  {
    clock,
    observe,
    activity,
    rounds,
    handlers,
  }: Pick<ProcessingPolicy, 'clock' | 'observe' | 'activity' | 'rounds' | 'handlers'>,
): ProcessingPolicy {
  return {
    acknowledge: resolved.acknowledge,
    concurrency: resolved.concurrency,
    groups: resolved.groups,
    capacity: resolved.capacity,
    capacityBytes: resolved.capacityBytes,
    handlerTimeoutMs: resolved.handlerTimeoutMs,
    retry: resolved.retry,
    retentionMs: resolved.retentionMs,
    replayableMs: 2 * resolved.toleranceMs,
    deadLetterRetentionMs: resolved.deadLetterRetentionMs,
    serialize: resolved.serializeBy !== undefined,
    clock,
    observe,
    logger: resolved.logger,
    handlers,
    activity,
    rounds,
  }
}

function stepsOf<Context>(
  resolved: ResolvedOptions<Context>,
  parts: Pick<
    HandleRequestParts<Context>,
    'inbox' | 'decode' | 'failures' | 'queue' | 'observers' | 'activity'
  >,
  clock: () => number,
  tracing: Tracing | undefined,
): HandleRequestParts<Context> {
  const {
    secret,
    logger,
    contract,
    toleranceMs,
    bodyLimits,
    bodyBounds,
    namespace,
    serializeBy,
    groupBy,
    acknowledge,
    keepsInvalid,
  } = resolved
  const secrets = createSecrets(secret, logger)
  const isFixed = typeof secret !== 'function'
  const secretUse = new SecretUse({ isFixed, clock, logger, observers: parts.observers })
  const { upcast: _, ...envelopeOnly } = contract
  return {
    bodyLimits,
    bodyBounds,
    inbox: parts.inbox,
    verify: createVerifier({
      contract,
      secrets,
      secretUse,
      toleranceMs,
      watch: new TimestampWatch(contract),
      clock: resolved.clock,
    }),
    decode: parts.decode,
    decodeInvalid: keepsInvalid ? createDecoder(envelopeOnly, {}) : undefined,
    createDelivery: createDeliveryFactory({
      namespace,
      serializeBy,
      groupBy,
      acknowledge,
      clock,
      traceOf: tracing?.traceOf,
    }),
    failures: parts.failures,
    queue: parts.queue,
    observers: parts.observers,
    activity: parts.activity,
  }
}

function ingestParts(
  { namespace, serializeBy, groupBy, acknowledge, inbox }: ResolvedOptions<never>,
  {
    bodyBounds,
    bodyLimits,
    decode,
    decodeInvalid,
    inbox: guarded,
    observers,
    activity,
  }: HandleRequestParts<never>,
  clock: () => number,
): IngestParts {
  const ofNamespace = (name: string): string => name
  return {
    bodyBounds,
    bodyLimits,
    decode,
    decodeInvalid,
    inbox: guarded,
    observers,
    activity,
    createDelivery: createDeliveryFactory({
      namespace: ofNamespace,
      serializeBy,
      groupBy,
      acknowledge,
      clock,
    }),
    namespace: typeof namespace === 'string' ? namespace : undefined,
    isDead: async key => (await inbox.deadLetters.get(key)) !== undefined,
  }
}

function drainTimeoutOf(options: Parameters<Receiver['close']>[0] = {}): Duration {
  // `process.once('SIGTERM', hooks.close)` passes the signal's name, and must not end without a drain.
  const isSignal = typeof options === 'string' && String(options).startsWith('SIG')
  if (!isSignal) refuseUnknownNames(options, ['timeout'], 'close', "{ timeout: '20s' }")
  return options.timeout ?? '10s'
}

/**
 * Warns about further copies of this package. Runs at start, when most of an application's imports have been loaded.
 */
function warnOfCopies(logger: Logger): void {
  const copies = unreportedCopies()
  if (copies.length === 0) return
  logger.warn(
    { code: 'core_loaded_twice' },
    `Copies of @ackhook/core are loaded from ${copies.join(' and ')}; instanceof fails between them. Keep one: npm ls @ackhook/core shows them.`,
  )
}

function checkedKey(id: string, where: InNamespace = {}): MaybePromise<string> {
  refuseUnknownNames(where, ['namespace'], '', "{ namespace: 'acme' }")
  if (typeof id === 'string') return eventKey(where.namespace ?? '', id)
  throw new ConfigurationError('id', 'must be the id of an event, a string')
}

function deadLettersOf(store: DeadLetterStore, observers: Observers): DeadLetters {
  /** Changes a letter, and observes it as a dashboard does. */
  async function change(verb: 'redrive' | 'discard', key: string): Promise<boolean> {
    const letter = observers.observe && (await store.get(key))
    const isChanged = await store[verb](key)
    if (isChanged && letter !== undefined)
      observers.observe?.({ kind: verb === 'redrive' ? 'redriven' : 'discarded', ...eventRef(letter) })
    return isChanged
  }

  return {
    async list(options = {}) {
      refuseUnknownNames(options, ['limit', 'order', 'after', 'group'])
      const query = {
        after: options.after,
        limit: wholeNumber('limit', options.limit ?? 100, 1, 1_000_000),
        order: oneOf<'newest' | 'oldest'>('order', options.order ?? 'newest', ['newest', 'oldest']),
      }
      return options.group === undefined
        ? store.list(query)
        : listGroup(store, { ...query, group: options.group })
    },
    async groups(options = {}) {
      refuseUnknownNames(options, ['limit'])
      return readGroups(store, { limit: wholeNumber('limit', options.limit ?? 100, 1, 1000) })
    },
    get: async (id, where) => store.get(await checkedKey(id, where)),
    redrive: async (id, where) => change('redrive', await checkedKey(id, where)),
    discard: async (id, where) => change('discard', await checkedKey(id, where)),
  }
}

/** Reads on until a letter of the group is found: an inbox that does not group its letters lists all of them. */
async function listGroup(
  store: DeadLetterStore,
  { group, ...query }: ListOptions & { readonly group: string },
): Promise<readonly DeadLetter[]> {
  for (let { after } = query; ; ) {
    const page = await store.list({ ...query, group, after })
    const found = page.filter(letter => groupOf(letter) === group)
    if (found.length > 0 || page.length === 0) return found
    after = page.at(-1)?.cursor
  }
}

async function lookUp(inbox: Inbox, key: string): Promise<EventLookup> {
  if (inbox.lookup !== undefined) return inbox.lookup(key)
  throw new ConfigurationError('inbox', `cannot look up an event: ${inbox.cannotLookUp ?? NO_LOOKUP}`)
}
