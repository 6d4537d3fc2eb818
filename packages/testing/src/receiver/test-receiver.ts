import {
  AckhookError,
  ConfigurationError,
  type Duration,
  type EventFor,
  type EventMap,
  type Receiver,
  type WebhookEvent,
} from '@ackhook/core'
import { describeError, durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import { hasOtherTimers, settlesInRealTime } from '../lib/settles-in-real-time.ts'
import { checkType } from '../requests/check-type.ts'
import { createEvent, type EventOverrides } from '../requests/create-event.ts'
import { type SignedRequestOptions, signedRequest } from '../requests/signed-request.ts'
import { AttemptLog } from './attempt-log.ts'
import { refusalError } from './refusal-error.ts'
import { RefusalWatch } from './refusal-watch.ts'
import { type TappedAttempt, tapReceiver } from './tap-receiver.ts'
import { type TestDelivery, toTestDelivery } from './test-delivery.ts'

/** Options of {@link testReceiver}. */
export interface TestReceiverOptions {
  /** The receiver's secret. */
  readonly secret: string
  /** The receiver's clock, which makes signatures fresh for it. Default `Date.now`. */
  readonly clock?: (() => number) | undefined
  /**
   * Time limit of one delivery with all its retries, in real time even if a test fakes its timers. Default `'4s'`,
   * because most test runners give up after 5.
   */
  readonly timeout?: Duration | undefined
}

const NAMES = ['secret', 'clock', 'timeout'] as const satisfies readonly (keyof TestReceiverOptions)[]
const HOUR_MS = 3_600_000

type AnyEvent = WebhookEvent<string, object>

/** Options of `deliverEvent`. */
export interface DeliverEventOptions extends Partial<SignedRequestOptions> {
  /** The exact body that is signed and delivered. Default: the event as JSON, in which a number may lose digits. */
  readonly body?: string | Uint8Array | undefined
}

/** A receiver under test. */
export interface TestReceiver {
  /** Signs the event, delivers it, and resolves when its handlers are done, including retries. */
  deliver<const Type extends string>(
    type: Type,
    overrides?: EventOverrides<Type>,
    request?: Partial<SignedRequestOptions>,
  ): Promise<TestDelivery<EventFor<EventMap, Type>>>
  /** Delivers an existing event. Deliver the same one again to see a duplicate. */
  deliverEvent<Event extends AnyEvent>(
    event: Event,
    request?: DeliverEventOptions,
  ): Promise<TestDelivery<Event>>
  /** All deliveries so far. */
  readonly deliveries: readonly TestDelivery<AnyEvent>[]
}

/**
 * Delivers events to a receiver in memory, from the raw request to the end of the handlers, without a socket. Accepts
 * the result of `createReceiver` or of an adapter's `webhooks`, before processing has started.
 *
 * `deliver` rejects if the handlers are not done in time. In a test of retries, give the receiver short delays:
 * `retry: { minDelay: '1ms' }`. A retry uses the receiver's timers: a test that fakes them must advance them. Throws
 * `ConfigurationError` for a wrong option.
 *
 * @example
 * const hooks = testReceiver(receiver, { secret })
 * const { outcome } = await hooks.deliver('conversation.resolved')
 */
export function testReceiver(
  receiver: Pick<Receiver<never, never>, 'handle' | 'subscribe'>,
  options: TestReceiverOptions,
): TestReceiver {
  const { secret, clock, timeoutMs } = resolve(options)
  const deliveries: TestDelivery<AnyEvent>[] = []
  const logs = new Map<string, AttemptLog>()
  tapUnstarted(receiver, attempt => logs.get(attempt.id)?.add(attempt))
  const refusals = new RefusalWatch(receiver)

  async function deliverEvent<Event extends AnyEvent>(
    event: Event,
    { body, ...changes }: DeliverEventOptions = {},
  ): Promise<TestDelivery<Event>> {
    const log = logs.get(event.id) ?? new AttemptLog()
    logs.set(event.id, log)
    const start = log.length
    const background: Promise<unknown>[] = []
    const request = {
      ...signedRequest(body ?? event, { secret, timestamp: Math.floor(clock() / 1000), ...changes }),
      context: undefined as never,
      waitUntil: (work: Promise<unknown>) => void background.push(work),
    }
    const { reply, rejection } = await refusals.watch(() => receiver.handle(request))
    const code: string = JSON.parse(reply.body).code
    if (code === 'accepted') {
      const done = log.finished(start).then(() => Promise.all(background))
      if (!(await settlesInRealTime(done, timeoutMs))) throw lateError(event, log.since(start), timeoutMs)
      await done
    }
    const refusal = rejection && refusalError(event, rejection, changes)
    const delivery = toTestDelivery(event, { status: reply.status, code }, log.since(start), refusal)
    deliveries.push(delivery as TestDelivery<AnyEvent>)
    return delivery
  }

  return {
    // `async`, so that a wrong argument rejects.
    async deliver(type, overrides, request) {
      checkType(type, "deliver('conversation.resolved')")
      return deliverEvent(createEvent(type, overrides, { clock }) as never, request)
    },
    deliverEvent,
    deliveries,
  }
}

function tapUnstarted(...args: Parameters<typeof tapReceiver>): void {
  try {
    tapReceiver(...args)
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'registry_frozen') throw cause
    const message =
      'testReceiver was called after processing had started. Call it before start() and before the first delivery, once for each receiver.'
    throw new AckhookError('registry_frozen', message, { cause })
  }
}

function resolve(options: TestReceiverOptions): {
  readonly secret: string
  readonly clock: () => number
  readonly timeoutMs: number
} {
  refuseUnknownNames(options ?? {}, NAMES)
  const { secret, clock = Date.now, timeout = '4s' } = options ?? {}
  if (typeof secret !== 'string' || secret === '') {
    throw new ConfigurationError(
      'secret',
      'write testReceiver(receiver, { secret }) with the secret that the receiver was created with',
      { page: 'receivers' },
    )
  }
  return { secret, clock, timeoutMs: durationMs(timeout, { option: 'timeout', minMs: 1, maxMs: HOUR_MS }) }
}

const FAKED =
  ' If this test fakes its timers, advance them while deliver() waits, or fake only Date: otherwise no retry falls due, and handlers that wait never end.'

/** Creates the error of a late event, with the handler's own error if the event waits because of it. */
function lateError({ type, id }: AnyEvent, attempts: readonly TappedAttempt[], ms: number): AckhookError {
  const problem = `${type} ${id} was accepted, but its handlers were not done within ${ms} ms`
  const timers = hasOtherTimers() ? FAKED : ''
  const last = attempts.at(-1)
  if (last?.result.outcome !== 'retry')
    return new AckhookError('handler_timeout', `${problem}. Does a handler wait for something?${timers}`)
  const { error } = last.result
  const message = `${problem}: attempt ${last.attempt} threw (${describeError(error)}). In a test, give the receiver short delays: retry: { minDelay: '1ms' }.${timers}`
  return new AckhookError('handler_timeout', message, { cause: error })
}
