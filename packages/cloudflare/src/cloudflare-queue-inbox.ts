import { ConfigurationError, type DedupeStore, type Duration, type Inbox } from '@ackhook/core'
import { createPushInbox } from '@ackhook/core/push'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import type { QueueBinding } from './bindings.ts'
import { queueEngine } from './queue-engine.ts'

/** Options of {@link cloudflareQueueInbox}. */
export interface CloudflareQueueInboxOptions {
  /**
   * Binding of another queue, for events that get no further attempt. `false`: they are not stored, and only
   * `onDeadLetter` receives them.
   */
  readonly deadLetters: QueueBinding | false
  /**
   * Store of handled ids: `durableObjectStore(env.EVENT_IDS)`. Required unless `concurrency` is 0, because a queue may
   * deliver an event twice.
   */
  readonly store?: DedupeStore | undefined
  /** How long a claim lasts without renewal, and so how long a dead Worker's events wait. Default `'60s'`. */
  readonly lease?: Duration | undefined
}

/**
 * Creates a durable inbox on Cloudflare Workers. The sender gets a 2xx once the queue has confirmed the event. Cloudflare
 * then calls the export `queue`, which `toQueueHandler` creates. An event of more than 127,900 bytes with its envelope is
 * refused with 413.
 *
 * Throws `ConfigurationError` for a wrong binding or option.
 *
 * @example
 * import { env } from 'cloudflare:workers'
 *
 * const inbox = cloudflareQueueInbox(env.EVENTS, {
 *   store: durableObjectStore(env.EVENT_IDS),
 *   deadLetters: env.DEAD_LETTERS,
 * })
 * const receiver = createReceiver({ secret: env.SIGNING_SECRET, inbox })
 * export default { fetch: toFetchHandler(receiver), queue: toQueueHandler(receiver) }
 */
export function cloudflareQueueInbox(queue: QueueBinding, options: CloudflareQueueInboxOptions): Inbox {
  requireQueue('queue', queue, NO_QUEUE)
  refuseUnknownNames(
    options,
    ['deadLetters', 'store', 'lease'],
    '',
    '{ store, deadLetters: env.DEAD_LETTERS }',
  )
  const { deadLetters, store } = options
  if (deadLetters !== false) requireQueue('deadLetters', deadLetters, NO_DEAD_LETTERS)
  return createPushInbox({
    engine: queueEngine(queue, deadLetters),
    store,
    leaseMs: durationMs(options.lease ?? '60s', { option: 'lease', minMs: 3000, maxMs: MOST_MS }),
    defaultRetry: { attempts: 8, minDelayMs: 5000, maxDelayMs: 43_200_000, factor: 5 },
    cannotSerialize:
      'Cloudflare Queues deliver events in no particular order: leave it out, and compare created_at',
    cannotDiscardOlder:
      'leave it out: Cloudflare deletes messages itself. Set message_retention_period of the queue of dead letters, to 14 days at most',
    checkOptions({ handlerTimeoutMs }) {
      if (handlerTimeoutMs < MOST_MS) return
      const fix = 'must be less than 15 minutes, after which Cloudflare ends a consumer'
      throw new ConfigurationError('handlerTimeout', fix)
    },
  })
}

/** Time limit of a Cloudflare consumer, by wall-clock time. */
const MOST_MS = 900_000
const NO_QUEUE =
  'must be the binding of a queue, such as env.EVENTS: name it under queues.producers of wrangler.jsonc'
const NO_DEAD_LETTERS =
  'must be the binding of a second queue, such as env.DEAD_LETTERS, or false to store no dead letters'

function requireQueue(option: string, queue: QueueBinding, fix: string): void {
  if (typeof queue?.send === 'function') return
  throw new ConfigurationError(option, fix, { page: 'cloudflare-bindings' })
}
