import { AckhookError, ConfigurationError } from '../../errors/errors.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { ACCEPT_RESULTS, type AcceptResult } from '../accept-result.ts'
import type { DedupeStore } from '../dedupe-store.ts'
import type { Delivery } from '../delivery.ts'
import type { CheckedOptions, DeadLetterStore, Inbox, InboxStats } from '../inbox.ts'
import { OWNED_BY_ANOTHER } from '../inbox-owner.ts'
import { GuardedStore } from '../memory/guarded-store.ts'
import { writeEnvelope } from './envelope.ts'
import { groupOf, PushConsumer } from './push-consumer.ts'
import type { PushEngine, PushMessage, PushOutcome } from './push-engine.ts'

/** Parts of {@link createPushInbox}. */
export interface PushInboxParts {
  readonly engine: PushEngine
  /** Store of handled ids, which counts runs. Required in every process whose `concurrency` is not 0. */
  readonly store: DedupeStore | undefined
  /** Duration of a claim without renewal. */
  readonly leaseMs: number
  readonly defaultRetry: NonNullable<Inbox['defaultRetry']>
  readonly cannotSerialize?: string
  /** Setting of the platform that limits the age of dead letters, for the option `deadLetterRetention`. */
  readonly cannotDiscardOlder?: string
  /** Throws for options that this engine does not support. */
  readonly checkOptions?: (options: CheckedOptions) => void
}

/** An inbox whose engine calls the consumer. */
export interface PushInbox extends Inbox {
  /** Runs one attempt at a message's event. Rejects only if the receiver only receives; throws before its start. */
  consume(message: PushMessage): Promise<PushOutcome>
  /** Maximum number of a batch's messages to consume at a time. */
  readonly concurrency: number
  /** Longest that `consume` may take, in milliseconds: a consumer with less time left leaves the message to the engine. */
  readonly longestMs: number
}

const PUBLISH_MS = 2000
const STATS_MS = 5000
/** Time around the handlers of an event: for its claim, and to record its end. */
const AROUND_HANDLERS_MS = 3000
/** Bytes by which the head of an envelope may grow before the event is handled. */
const RESERVED_BYTES = 64
const CANNOT_KEEP =
  'its engine has nowhere to keep figures, and a consumer may last for one call only: observe them with @ackhook/opentelemetry'
const NOT_STARTED = 'start() must come before the first event'

/** Creates an inbox from an engine that stores messages and calls a consumer with them. */
export function createPushInbox(parts: PushInboxParts): PushInbox {
  const { engine, store, defaultRetry, cannotSerialize, cannotDiscardOlder } = parts
  let consumer: PushConsumer | undefined
  const started = (): PushConsumer => {
    if (consumer !== undefined) return consumer
    throw new ConfigurationError('inbox', NOT_STARTED)
  }
  return {
    durable: true,
    location: engine.location,
    defaultRetry,
    // The engine has its own limits, and refuses when it is full.
    defaultCapacity: MAX_CAPACITY,
    ...(cannotSerialize !== undefined && { cannotSerialize }),
    ...(cannotDiscardOlder !== undefined && { cannotDiscardOlder }),
    cannotShareSlots: CANNOT_SHARE,
    cannotPause: CANNOT_PAUSE,
    cannotLookUp: CANNOT_LOOK_UP,
    cannotKeepActivity: CANNOT_KEEP,
    checkOptions(options) {
      if (options.concurrency > 0 && store === undefined)
        throw new ConfigurationError('store', NO_STORE, { page: 'push-engines' })
      if (options.concurrency > 0 && store?.countsRuns !== true)
        throw new ConfigurationError('store', NO_COUNT, { page: 'push-engines' })
      if (options.capacity !== MAX_CAPACITY) throw new ConfigurationError('capacity', NO_CAPACITY)
      parts.checkOptions?.(options)
    },
    accept: delivery => accept(engine, delivery),
    async start(run, policy) {
      if (consumer !== undefined) throw new ConfigurationError('inbox', OWNED_BY_ANOTHER)
      const guarded = store && new GuardedStore(store, policy.observe)
      const starting = new PushConsumer({ engine, store: guarded, leaseMs: parts.leaseMs, run, policy })
      await engine.start?.(policy)
      consumer = starting
      starting.startStore()
    },
    async close(timeoutMs) {
      const stopping = Promise.resolve(engine.stop?.())
      await consumer?.drain(timeoutMs)
      await stopping
      return { lost: 0 }
    },
    stats: () => statsOf(engine),
    deadLetters: deadLettersIn(engine),
    forget: key => store?.forget(key) ?? false,
    consume: message => started().consume(message),
    get concurrency() {
      return started().concurrency
    },
    get longestMs() {
      return started().handlerTimeoutMs + AROUND_HANDLERS_MS
    },
  }
}

const MAX_CAPACITY = 1_000_000_000
const NO_STORE =
  'is required if events are handled here, because an engine may deliver one event twice: pass a store that all consumers share, or set concurrency: 0 in a process that only receives'
const NO_COUNT =
  'must count the runs of an event, and set countsRuns: true: the engine counts deliveries, also those that ran nothing. memoryStore, redisStore and durableObjectStore do'
const CANNOT_SHARE =
  'the queue decides which events it delivers together: write concurrency as a number, and give events that must not hold up others a receiver and a queue of their own'
const CANNOT_PAUSE =
  'the platform calls the consumer, and would count what it gives back as failed: pause the delivery of the queue there (Lambda: disable the event source mapping; Cloudflare: wrangler queues pause-delivery)'
const CANNOT_LOOK_UP =
  'the queue finds no single message, so an event that waits cannot be told from one that never came: look in the logs, or in the queue of dead letters'
const NO_CAPACITY = 'leave it out: the engine stores the events, and has its own limits'

async function accept(engine: PushEngine, delivery: Delivery): Promise<AcceptResult> {
  const message = writeEnvelope({ delivery, attempts: 0, waitMs: 0 })
  const size = engine.sizeOf?.(message) ?? message.length
  if (size + RESERVED_BYTES > engine.maxBytes) {
    const detail = `its message of ${size} bytes exceeds the ${engine.maxBytes}-byte limit of ${engine.location}`
    return { outcome: 'too_large', detail }
  }
  try {
    const publishing = engine.publish(message, { delayMs: 0, group: groupOf(delivery) })
    await withDeadline(publishing, { operation: 'publish', ms: PUBLISH_MS })
    return ACCEPT_RESULTS.accepted
  } catch (cause) {
    // The engine may have stored it anyway: the id store recognizes the sender's retry.
    return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
  }
}

/** Refuses every call: the engine keeps the dead letters, and only its own tools can read them. */
function deadLettersIn(engine: PushEngine): DeadLetterStore {
  const refuse = () => unknown('its dead letters', engine)
  return { unreadable: true, list: refuse, get: refuse, redrive: refuse, discard: refuse }
}

async function statsOf(engine: PushEngine): Promise<InboxStats> {
  if (engine.stats === undefined) return unknown('how many events wait', engine)
  return withDeadline(Promise.resolve(engine.stats()), { operation: 'stats', ms: STATS_MS })
}

async function unknown(what: string, { location }: PushEngine): Promise<never> {
  const message = `The ${location} does not report ${what}: use its platform's own tools.`
  throw new AckhookError('inbox_unavailable', message)
}
