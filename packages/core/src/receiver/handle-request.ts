import { CODES, type SuccessCode } from '../errors/codes.ts'
import { Refusal } from '../errors/refusal.ts'
import { type BodyBounds, weighBody } from '../events/body-bounds.ts'
import type { DecodeEvent } from '../events/decode-event.ts'
import { replyFor, replyLater } from '../http/reply.ts'
import {
  type BodyLimits,
  checkHead,
  isBytes,
  unreadable,
  type WebhookReply,
  type WebhookRequest,
} from '../http/request.ts'
import type { AcceptResult } from '../inbox/accept-result.ts'
import type { ActivityCounter } from '../inbox/activity-counter.ts'
import type { CreateDelivery, Delivery } from '../inbox/delivery.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { FailureLog } from '../observe/failure-log.ts'
import type { Observers } from '../observe/observers.ts'
import type { VerifyRequest } from '../verify/verify-request.ts'
import type { QueueLog } from './queue-log.ts'

export interface HandleRequestParts<Context> {
  readonly bodyLimits: BodyLimits
  readonly bodyBounds: BodyBounds
  readonly verify: VerifyRequest<Context>
  readonly decode: DecodeEvent
  /** Decodes only the envelope, of events that are kept although their data is invalid. */
  readonly decodeInvalid: DecodeEvent | undefined
  readonly createDelivery: CreateDelivery<Context>
  readonly inbox: {
    readonly isDraining: boolean
    accept(delivery: Delivery): MaybePromise<AcceptResult | Refusal>
  }
  readonly failures: Pick<FailureLog, 'refused' | 'conflicted' | 'worked' | 'outage'>
  readonly queue: Pick<QueueLog, 'nextAt' | 'left' | 'accepted'>
  readonly observers: Pick<Observers, 'observe'>
  readonly activity: Pick<ActivityCounter, 'count'> | undefined
}

/** Creates a receiver's `handle` method. */
export function createRequestHandler<Context>(
  parts: HandleRequestParts<Context>,
): (request: WebhookRequest<Context>) => Promise<WebhookReply> {
  return request => handleRequest(parts, request)
}

/**
 * Runs steps 2 to 9 of a delivery, from the raw request to its reply. Never rejects: a request of another shape than
 * documented, or one that throws when read, is a 400; a fault on this side is a 500, and
 * the sender keeps the event. A crash before step 9 costs nothing: the sender has no reply yet and retries.
 */
async function handleRequest<Context>(
  parts: HandleRequestParts<Context>,
  request: WebhookRequest<Context>,
): Promise<WebhookReply> {
  const { bodyLimits, bodyBounds, verify, decode, createDelivery, inbox } = parts
  const startedAt = performance.now()
  parts.observers.observe?.({ kind: 'received' })
  let isRead = false
  try {
    // 2: the exact bytes, once the head of the request is acceptable.
    const { method, headers, context, body: source } = request
    // A reader that fails is a fault on this side.
    isRead = typeof source === 'function'
    if (typeof method !== 'string' || !headers) return refuse(parts, unreadable(NO_REQUEST), startedAt)
    const unacceptable = checkHead(request, bodyLimits)
    if (unacceptable !== undefined) return refuse(parts, unacceptable, startedAt)
    if (inbox.isDraining) return refuse(parts, new Refusal('draining'), startedAt)
    const body = typeof source === 'function' ? await source.call(request, bodyLimits) : source
    if (body instanceof Refusal) return await refuseBody(parts, body, startedAt)
    if (!isBytes(body)) return refuse(parts, unreadable(NO_BYTES), startedAt)
    isRead = true
    if (body.length > bodyLimits.maxBytes) return refuse(parts, new Refusal('body_too_large'), startedAt)

    // 3 to 5: header, signature, timestamp. Nothing is written before they hold.
    const verifying = verify(headers, body, context)
    const unproven = isPromise(verifying) ? await verifying : verifying
    if (unproven !== undefined) return refuse(parts, unproven, startedAt)

    // 6 and 7: bounds, envelope, upcast, schema.
    const weight = weighBody(body, bodyBounds)
    if (weight instanceof Refusal) return refuse(parts, weight, startedAt)
    const decoding = decode(body, headers)
    const event = isPromise(decoding) ? await decoding : decoding

    // 8: as durable as the inbox.
    const creating =
      event instanceof Refusal
        ? keepInvalid(parts, event, { body, request, weight })
        : createDelivery(event, body, request, weight)
    const delivery = isPromise(creating) ? await creating : creating
    if (delivery instanceof Refusal) return refuse(parts, delivery, startedAt)
    const accepting = inbox.accept(delivery)
    const result = isPromise(accepting) ? await accepting : accepting

    // 9: once a 2xx is written, the sender never repeats the event.
    return result instanceof Refusal
      ? refuse(parts, result, startedAt)
      : acknowledge(parts, delivery, result, startedAt)
  } catch (cause) {
    return refuse(
      parts,
      isRead ? new Refusal('internal_error', { cause }) : unreadable(undefined, cause),
      startedAt,
    )
  }
}

/**
 * Returns a delivery for an event that the user's own schema or `upcast` refuses, if such events become dead letters. The
 * worker decodes it again, as at each redrive: hence without the event.
 */
export async function keepInvalid<Context>(
  { decodeInvalid, createDelivery }: Pick<HandleRequestParts<Context>, 'decodeInvalid' | 'createDelivery'>,
  refusal: Refusal,
  {
    body,
    request,
    weight,
  }: {
    readonly body: Uint8Array
    readonly request: Parameters<CreateDelivery<Context>>[2]
    readonly weight: number
  },
): Promise<Delivery | Refusal> {
  if (refusal.code !== 'event_invalid') return refusal
  const event = await decodeInvalid?.(body)
  if (event === undefined || event instanceof Refusal) return refusal
  const delivery = await createDelivery(event, body, request, weight)
  return { ...delivery, event: undefined }
}

function acknowledge<Context>(
  parts: HandleRequestParts<Context>,
  { id, type, namespace }: Delivery,
  result: AcceptResult,
  startedAt: number,
): WebhookReply {
  const { observers, failures, queue } = parts
  const conflict = 'conflict' in result && result.conflict === true
  if (conflict) failures.conflicted(result.outcome === 'duplicate' ? NOT_RUN : RUN, { event: id, type })
  const code = outcomeOf(result)
  if (code instanceof Refusal) return refuse(parts, code, startedAt)
  const durationMs = performance.now() - startedAt
  observers.observe?.(
    code === 'duplicate'
      ? { kind: code, conflict, id, type, namespace, durationMs }
      : { kind: 'accepted', code, conflict, id, type, namespace, durationMs },
  )
  if (code === 'duplicate') return replyFor(code)
  parts.activity?.count('accepted', type)
  // Compared here, because nearly every acceptance has nothing to report.
  if (failures.outage !== undefined) failures.worked(startedAt)
  if (startedAt >= queue.nextAt || --queue.left < 0) queue.accepted(startedAt)
  return replyFor(code)
}

async function refuseBody<Context>(
  parts: HandleRequestParts<Context>,
  refusal: Refusal,
  startedAt: number,
): Promise<WebhookReply> {
  if (refusal.code === 'too_many_bodies') await parts.bodyLimits.reading?.turnToReply(refusal)
  return refuse(parts, refusal, startedAt)
}

function refuse<Context>(
  { failures, observers }: HandleRequestParts<Context>,
  refusal: Refusal,
  startedAt: number,
): WebhookReply {
  const { code, detail, cause, retryAfterMs } = refusal
  // Throws here, before anything is reported, if an inbox returns a code that this version of core lacks.
  const { status } = CODES[code]
  failures.refused(refusal)
  observers.observe?.({
    kind: 'rejected',
    code,
    status,
    durationMs: performance.now() - startedAt,
    ...(detail !== undefined && { detail }),
    ...(cause !== undefined && { cause }),
  })
  return status === 503 ? replyLater(code, retryAfterMs) : replyFor(code)
}

const NO_REQUEST =
  'the host or framework passed no request with method and headers. handle() takes { method, headers, body, context }: a Fetch request goes to toFetchHandler(receiver), a Node request to toNodeHandler(receiver).'
const NO_BYTES =
  'A request needs its exact bytes as body: a Uint8Array, or a function that returns one or a promise of one. For a string, pass new TextEncoder().encode(text); for an ArrayBuffer, new Uint8Array(buffer).'

const NOT_RUN = 'it is not run again'
const RUN = 'it is run, and replaces the dead letter with this id'

/** Maximum `Retry-After` of an event in flight elsewhere, which may finish long before its lease expires. */
const MAX_IN_FLIGHT_WAIT_MS = 30_000

/** Returns the code of a 2xx, or the refusal after which the sender repeats the event. */
export function outcomeOf(result: AcceptResult): SuccessCode | Refusal {
  switch (result.outcome) {
    case 'accepted':
    case 'duplicate':
    case 'processed':
    case 'dead_lettered':
      return result.outcome
    case 'failed':
      return result.retryAfterMs === undefined
        ? new Refusal('handler_failed')
        : new Refusal('handler_deferred', { retryAfterMs: result.retryAfterMs })
    case 'in_flight':
      return new Refusal('in_flight', { retryAfterMs: Math.min(result.retryAfterMs, MAX_IN_FLIGHT_WAIT_MS) })
    case 'full':
      return new Refusal('capacity_exceeded', result)
    case 'too_large':
      return new Refusal('body_too_large', result)
    case 'unavailable':
      return new Refusal(result.code, { cause: result.cause })
  }
}
