import { CODES, type SuccessCode } from '../errors/codes.ts'
import { Refusal } from '../errors/refusal.ts'
import type { DecodeEvent } from '../events/decode-event.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import { PendingBody } from '../http/pending-body.ts'
import { replyFor, replyLater } from '../http/reply.ts'
import {
  type BodyLimits,
  checkHead,
  type ReadBody,
  type WebhookReply,
  type WebhookRequest,
} from '../http/request.ts'
import type { AcceptResult } from '../inbox/accept-result.ts'
import type { CreateDelivery, Delivery } from '../inbox/delivery.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observers } from '../observe/observers.ts'
import type { VerifyRequest } from '../verify/verify-request.ts'

export interface HandleRequestParts<Context> {
  readonly bodyLimits: BodyLimits
  readonly verify: VerifyRequest<Context>
  readonly decode: DecodeEvent
  readonly createDelivery: CreateDelivery<Context>
  readonly inbox: {
    readonly isDraining: boolean
    accept(delivery: Delivery): MaybePromise<AcceptResult | Refusal>
  }
  readonly logger: Logger
  readonly logRefusal: (refusal: Refusal) => void
  readonly observers: Pick<Observers, 'observe'>
}

/**
 * Steps 2 to 9 of a delivery, from the raw request to its reply, for which `reply` is called once, after this call has
 * returned. Never throws: a fault on this side is a 500, and the sender keeps the event. A crash before step 9 costs nothing: the sender has no reply yet
 * and retries.
 *
 * What is there already takes no promise, from the last byte of the request to the reply. perf: note 24.
 */
export function handleRequest<Context>(
  parts: HandleRequestParts<Context>,
  request: WebhookRequest<Context>,
  reply: (reply: WebhookReply) => void,
): void {
  parts.observers.observe?.({ kind: 'received' })
  new Exchange(parts, request, reply).readBody()
}

type Outcome = MaybePromise<WebhookReply | Refusal>

/** A request on its way to a reply. A class, because many wait for their bodies at once. perf: note 3. */
class Exchange<Context> {
  readonly #parts: HandleRequestParts<Context>
  readonly #request: WebhookRequest<Context>
  readonly #reply: (reply: WebhookReply) => void
  readonly #startedAt = performance.now()

  constructor(
    parts: HandleRequestParts<Context>,
    request: WebhookRequest<Context>,
    reply: (reply: WebhookReply) => void,
  ) {
    this.#parts = parts
    this.#request = request
    this.#reply = reply
  }

  /** Step 2: the exact bytes. */
  readBody(): void {
    const body = this.#beginToRead()
    if (body instanceof PendingBody) body.deliver(read => this.#answer(read))
    else
      void Promise.resolve(body).then(
        read => this.#answer(read),
        cause => this.#fail(cause),
      )
  }

  /** Only once the head of the request is acceptable. */
  #beginToRead(): ReturnType<ReadBody> {
    const request = this.#request
    const { bodyLimits, inbox } = this.#parts
    try {
      const unread = checkHead(request, bodyLimits)
      if (unread !== undefined) return unread
      if (inbox.isDraining) return new Refusal('draining')
      return typeof request.body === 'function' ? request.body(bodyLimits) : request.body
    } catch (cause) {
      return new Refusal('internal_error', { cause })
    }
  }

  #answer(body: Uint8Array | Refusal): void {
    let outcome: Outcome
    try {
      outcome = body instanceof Refusal ? body : this.#verify(body)
    } catch (cause) {
      outcome = new Refusal('internal_error', { cause })
    }
    if (!isPromise(outcome)) this.#end(outcome)
    else
      outcome.then(
        later => this.#end(later),
        cause => this.#fail(cause),
      )
  }

  /** Steps 3 to 5: header, signature, timestamp. */
  #verify(body: Uint8Array): Outcome {
    const { bodyLimits, verify } = this.#parts
    // Not `instanceof Uint8Array`: the bytes may come from another realm, as in some test runners.
    if (!ArrayBuffer.isView(body)) throw new TypeError(NO_BYTES)
    if (body.length > bodyLimits.maxBytes) return new Refusal('body_too_large')
    const untrusted = verify(this.#request.headers, body, this.#request.context)
    if (isPromise(untrusted)) return untrusted.then(later => later ?? this.#decode(body))
    return untrusted ?? this.#decode(body)
  }

  /** Steps 6 and 7: envelope, upcast, schema. */
  #decode(body: Uint8Array): Outcome {
    const event = this.#parts.decode(body)
    return isPromise(event) ? event.then(later => this.#deliver(body, later)) : this.#deliver(body, event)
  }

  #deliver(body: Uint8Array, event: WebhookEvent | Refusal): Outcome {
    if (event instanceof Refusal) return event
    const delivery = this.#parts.createDelivery(event, body, this.#request)
    return isPromise(delivery) ? delivery.then(later => this.#accept(later)) : this.#accept(delivery)
  }

  /** Step 8: as safe as the inbox makes it. */
  #accept(delivery: Delivery): Outcome {
    const acceptance = this.#parts.inbox.accept(delivery)
    return isPromise(acceptance)
      ? acceptance.then(later => this.#acknowledge(delivery, later))
      : this.#acknowledge(delivery, acceptance)
  }

  /** Step 9. Once this reply is written, the sender never repeats the event. */
  #acknowledge(
    { id, type, namespace }: Delivery,
    acceptance: AcceptResult | Refusal,
  ): WebhookReply | Refusal {
    if (acceptance instanceof Refusal) return acceptance
    const { logger, observers } = this.#parts
    const conflict = 'conflict' in acceptance && acceptance.conflict === true
    if (conflict) {
      const then = acceptance.outcome === 'duplicate' ? NOT_RUN : RUN
      logger.warn({ event: id, type }, `Event ${id} came again with other bytes; ${then}.`)
    }
    const code = outcomeOf(acceptance)
    if (code instanceof Refusal) return code
    if (observers.observe !== undefined) {
      const durationMs = performance.now() - this.#startedAt
      // Two whole literals instead of a spread. perf: note 7.
      if (code === 'duplicate') observers.observe({ kind: code, conflict, id, type, namespace, durationMs })
      else observers.observe({ kind: 'accepted', code, conflict, id, type, namespace, durationMs })
    }
    return replyFor(code)
  }

  #fail(cause: unknown): void {
    this.#end(new Refusal('internal_error', { cause }))
  }

  #end(outcome: WebhookReply | Refusal): void {
    this.#reply(outcome instanceof Refusal ? this.#toReply(outcome) : outcome)
  }

  /** An inbox may give a code that this version of core does not know. */
  #toReply(refusal: Refusal): WebhookReply {
    try {
      return this.#refuse(refusal)
    } catch (cause) {
      return this.#refuse(new Refusal('internal_error', { cause }))
    }
  }

  #refuse(refusal: Refusal): WebhookReply {
    const { logRefusal, observers } = this.#parts
    const { code, detail, cause } = refusal
    const { status } = CODES[code]
    logRefusal(refusal)
    observers.observe?.({
      kind: 'rejected',
      code,
      status,
      durationMs: performance.now() - this.#startedAt,
      ...(detail !== undefined && { detail }),
      ...(cause !== undefined && { cause }),
    })
    return status === 503 ? replyLater(code, refusal.retryAfterMs) : replyFor(code)
  }
}

const NO_BYTES =
  'A request needs its exact bytes as body: a Uint8Array, or a function that returns one or a promise of one. For a text write new TextEncoder().encode(text), for an ArrayBuffer new Uint8Array(buffer).'

const NOT_RUN = 'it is not run again'
const RUN = 'it is run, and the dead letter that had this id is gone'

/** An event in flight elsewhere may finish long before its lease expires. */
const MAX_IN_FLIGHT_WAIT_MS = 30_000

/** What an inbox's answer means for the sender: the code of a 2xx, or a refusal. */
export function outcomeOf(acceptance: AcceptResult): SuccessCode | Refusal {
  switch (acceptance.outcome) {
    case 'accepted':
    case 'duplicate':
    case 'processed':
    case 'dead_lettered':
      return acceptance.outcome
    case 'failed':
      return acceptance.retryAfterMs === undefined
        ? new Refusal('handler_failed')
        : new Refusal('handler_deferred', { retryAfterMs: acceptance.retryAfterMs })
    case 'in_flight':
      return new Refusal('in_flight', {
        retryAfterMs: Math.min(acceptance.retryAfterMs, MAX_IN_FLIGHT_WAIT_MS),
      })
    case 'full':
      return new Refusal('capacity_exceeded')
    case 'unavailable':
      return new Refusal(acceptance.code, { cause: acceptance.cause })
  }
}
