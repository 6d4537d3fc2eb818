import { AckhookError, type EventFor, type EventMap, type Receiver, type WebhookEvent } from '@ackhook/core'
import { type TappedAttempt, tapReceiver } from '@ackhook/core/spi'
import { createEvent, type EventOverrides } from './create-event.ts'
import { type SignedRequestOptions, signedRequest } from './signed-request.ts'

/** Options of {@link testReceiver}. */
export interface TestReceiverOptions {
  /** The secret the receiver was made with. */
  readonly secret: string
  /** The receiver's clock, so that signatures are fresh by it. Default `Date.now`. */
  readonly clock?: () => number
  /** How long one delivery may take with all its retries, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
}

/** What one attempt came to. */
export interface HandledAttempt {
  readonly attempt: number
  /** How many handlers of `on` ran. `0`: none matched, and `onUnhandled` was called. */
  readonly handlers: number
  /** What a handler threw. */
  readonly error?: unknown
}

/** What became of one delivery. */
export interface TestDelivery<Event = WebhookEvent> {
  /**
   * `handled`, `unhandled` (acknowledged, and no handler matched), `dead_lettered`, `failed` (the reply asked
   * the sender to try again), `duplicate` or `refused` (see `code`).
   */
  readonly outcome: 'handled' | 'unhandled' | 'dead_lettered' | 'failed' | 'duplicate' | 'refused'
  /** The status and the code that the platform would have got. */
  readonly status: number
  readonly code: string
  /** The event as it was sent. */
  readonly sent: Event
  /** The event as the handlers got it: after `upcast` and schemas. Absent when none was called. */
  readonly received?: Event
  readonly attempts: readonly HandledAttempt[]
  /** What the last attempt failed with. */
  readonly error?: unknown
}

/** A receiver under test. */
export interface TestReceiver {
  /** Signs the event, delivers it, and resolves when its handlers are done, retries included. */
  deliver<const Type extends string>(
    type: Type,
    overrides?: EventOverrides<Type>,
    request?: Partial<SignedRequestOptions>,
  ): Promise<TestDelivery<EventFor<EventMap, Type>>>
  /** The same for an event that exists already: deliver it again to see a duplicate. */
  deliverEvent<Event extends WebhookEvent<string, object>>(
    event: Event,
    request?: Partial<SignedRequestOptions>,
  ): Promise<TestDelivery<Event>>
  /** Every delivery so far. */
  readonly deliveries: readonly TestDelivery<WebhookEvent<string, object>>[]
}

const DEFAULT_TIMEOUT_MS = 10_000

/**
 * Delivers events to a receiver in memory, the whole way from the raw request to the end of the handlers,
 * without a socket. Works with what `createReceiver` or an adapter's `webhooks` made, before it has started.
 *
 * `deliver` rejects when the event is not done in time. Give the receiver short delays
 * (`retry: { minDelay: '1ms' }`) where a test is about retries.
 *
 * @example
 * const hooks = testReceiver(receiver, { secret })
 * const { outcome } = await hooks.deliver('conversation.resolved')
 */
export function testReceiver(
  receiver: Pick<Receiver<never, never>, 'handle'>,
  options: TestReceiverOptions,
): TestReceiver {
  const { secret, clock = Date.now, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const deliveries: TestDelivery<WebhookEvent<string, object>>[] = []
  const followed = new Map<string, Follower>()
  tapReceiver(receiver, attempt => followed.get(attempt.id)?.see(attempt))

  async function deliverEvent<Event extends WebhookEvent<string, object>>(
    event: Event,
    changes: Partial<SignedRequestOptions> = {},
  ): Promise<TestDelivery<Event>> {
    const follower = followed.get(event.id) ?? createFollower()
    followed.set(event.id, follower)
    const seenBefore = follower.attempts.length
    const kept: Promise<unknown>[] = []
    const request = signedRequest(event, { secret, timestamp: Math.floor(clock() / 1000), ...changes })
    const reply = await receiver.handle({
      ...request,
      context: undefined as never,
      waitUntil: work => kept.push(work),
    })
    const code: string = JSON.parse(reply.body).code
    if (code === 'accepted') {
      await within(timeoutMs, event, follower.finished(seenBefore))
      await within(timeoutMs, event, Promise.all(kept))
    }
    const delivery = report(event, { status: reply.status, code }, follower.attempts.slice(seenBefore))
    deliveries.push(delivery as TestDelivery<WebhookEvent<string, object>>)
    return delivery
  }

  return {
    deliver: (type, overrides, request) =>
      deliverEvent(createEvent(type, overrides, { clock }) as never, request),
    deliverEvent,
    deliveries,
  }
}

function report<Event>(
  sent: Event,
  reply: { readonly status: number; readonly code: string },
  attempts: readonly TappedAttempt[],
): TestDelivery<Event> {
  const last = attempts.at(-1)
  const error = last === undefined ? undefined : errorOf(last)
  return {
    outcome: outcomeOf(reply.code, last),
    ...reply,
    sent,
    ...(last?.event && { received: last.event as Event }),
    attempts: attempts.map(one => ({
      attempt: one.attempt,
      handlers: one.matched,
      ...(one.verdict.outcome !== 'completed' && { error: one.verdict.error }),
    })),
    ...(error !== undefined && { error }),
  }
}

function errorOf({ verdict }: TappedAttempt): unknown {
  return verdict.outcome === 'completed' ? undefined : verdict.error
}

function outcomeOf(code: string, last: TappedAttempt | undefined): TestDelivery['outcome'] {
  if (last === undefined) return code === 'duplicate' ? 'duplicate' : 'refused'
  if (last.verdict.outcome === 'completed') return last.matched === 0 ? 'unhandled' : 'handled'
  if (code === 'accepted' || code === 'dead_lettered') return 'dead_lettered'
  return 'failed'
}

interface Follower {
  readonly attempts: readonly TappedAttempt[]
  see(attempt: TappedAttempt): void
  /** Resolves at the first attempt after the first `skip` that no other attempt follows. */
  finished(skip: number): Promise<void>
}

function createFollower(): Follower {
  const attempts: TappedAttempt[] = []
  let waiting: (() => void)[] = []
  const isLast = (one: TappedAttempt): boolean => one.verdict.outcome !== 'retry'
  return {
    attempts,
    see(attempt) {
      attempts.push(attempt)
      if (!isLast(attempt)) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    finished(skip) {
      if (attempts.slice(skip).some(isLast)) return Promise.resolve()
      return new Promise(resolve => waiting.push(resolve))
    },
  }
}

async function within(
  ms: number,
  event: WebhookEvent<string, object>,
  work: Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `${event.type} ${event.id} was accepted, but its handlers were not done within ${ms} ms. Does a handler wait for something, or is the option retry.minDelay long?`
      reject(new AckhookError('handler_timeout', message))
    }, ms)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
