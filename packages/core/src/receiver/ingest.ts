import { CODES, type RefusalCode, type ReplyCode, type SuccessCode } from '../errors/codes.ts'
import { ConfigurationError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import { weighBody } from '../events/body-bounds.ts'
import type { CreateDelivery, Delivery } from '../inbox/delivery.ts'
import { refuseUnknownNames, show } from '../lib/check-option.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { type HandleRequestParts, keepInvalid, outcomeOf } from './handle-request.ts'

/** Options of {@link Receiver.ingest}. */
export interface IngestOptions {
  /** Where the event comes from, such as `'list-call'` or `'backup'`: for observations and metrics, so keep it short. */
  readonly source: string
  /** Namespace of the event. Default: the option `namespace` of the receiver; required if that is a function. */
  readonly namespace?: string | undefined
}

/** Event that was ingested, or the reason why it was not. */
export type IngestResult =
  | {
      /**
       * `accepted`: it will be handled. `processed` and `dead_lettered`: with `'after-processing'`. `duplicate`: it was
       * accepted before. `dead`: it is a dead letter, which only a redrive runs again.
       */
      readonly outcome: SuccessCode | 'dead'
      readonly id: string
      readonly type: string
      readonly namespace: string
    }
  | {
      /** Nothing was stored. After a `code` whose status is 503, try again, after `retryAfterMs` if that is set. */
      readonly outcome: 'refused'
      readonly code: RefusalCode
      readonly status: number
      readonly detail?: string | undefined
      readonly retryAfterMs?: number | undefined
      readonly cause?: unknown
    }

/** Method {@link Receiver.ingest}. */
export type Ingest = (event: object | Uint8Array, options: IngestOptions) => Promise<IngestResult>

export interface IngestParts
  extends Pick<
    HandleRequestParts<string>,
    'activity' | 'bodyBounds' | 'bodyLimits' | 'decode' | 'decodeInvalid' | 'inbox' | 'observers'
  > {
  /** Creates a delivery whose context is its namespace. */
  readonly createDelivery: CreateDelivery<string>
  /** The option `namespace`, if it is not a function of requests. */
  readonly namespace: string | undefined
  /** Returns whether the event with this key is a dead letter. May throw or reject, if the inbox cannot tell. */
  readonly isDead: (key: string) => MaybePromise<boolean>
}

/**
 * Creates steps 6 to 9 for events that no request brought: nothing is verified, since the application itself vouches for
 * them. A crash before the result costs nothing: the application ingests the event again, and it is a duplicate or new.
 */
export function createIngest(parts: IngestParts): Ingest {
  return async (event, options) => {
    const startedAt = performance.now()
    const { source, namespace } = checked(options, parts.namespace)
    const offered = await offer(parts, bytesOf(event), namespace)
    const { delivery, outcome } = offered
    parts.observers.observe?.({
      kind: 'ingested',
      source,
      code: outcome,
      id: delivery?.id ?? '',
      type: delivery?.type ?? '',
      namespace,
      durationMs: performance.now() - startedAt,
    })
    if ('refusal' in offered) return refusedFor(offered.refusal)
    return { outcome: offered.outcome, id: offered.delivery.id, type: offered.delivery.type, namespace }
  }
}

type Offered =
  | { readonly outcome: SuccessCode | 'dead'; readonly delivery: Delivery }
  | { readonly outcome: ReplyCode; readonly refusal: Refusal; readonly delivery: Delivery | undefined }

async function offer(parts: IngestParts, body: Uint8Array, namespace: string): Promise<Offered> {
  const delivery = await deliveryOf(parts, body, namespace)
  if (delivery instanceof Refusal) return refused(delivery)
  if (await isDead(parts, delivery.key)) return { outcome: 'dead', delivery }
  const result = await parts.inbox.accept(delivery)
  // A difference to what came before is not reported: an event from a list has seldom the bytes of its delivery.
  const code = result instanceof Refusal ? result : outcomeOf(result)
  if (code instanceof Refusal) return refused(code, delivery)
  if (code !== 'duplicate') {
    parts.activity?.count('accepted', delivery.type)
    parts.activity?.count('ingested', delivery.type)
  }
  return { outcome: code, delivery }
}

async function deliveryOf(
  parts: IngestParts,
  body: Uint8Array,
  namespace: string,
): Promise<Delivery | Refusal> {
  if (body.length > parts.bodyLimits.maxBytes) return new Refusal('body_too_large')
  const weight = weighBody(body, parts.bodyBounds)
  if (weight instanceof Refusal) return weight
  const request = { headers: {}, context: namespace }
  const event = await parts.decode(body)
  if (event instanceof Refusal) return keepInvalid(parts, event, { body, request, weight })
  return parts.createDelivery(event, body, request, weight)
}

/** An inbox that keeps no dead letters of its own accepts the event, as it would a redelivery. */
async function isDead(parts: IngestParts, key: string): Promise<boolean> {
  try {
    return await parts.isDead(key)
  } catch {
    return false
  }
}

function refused(refusal: Refusal, delivery?: Delivery): Offered {
  return { outcome: refusal.code, refusal, delivery }
}

function refusedFor({ code, detail, retryAfterMs, cause }: Refusal): IngestResult {
  return { outcome: 'refused', code, status: CODES[code].status, detail, retryAfterMs, cause }
}

function checked(
  options: IngestOptions,
  preset: string | undefined,
): Required<IngestOptions> & { namespace: string } {
  refuseUnknownNames(options, ['source', 'namespace'], '', "{ source: 'list-call' }")
  const { source, namespace = preset } = options
  if (typeof source !== 'string' || source === '')
    throw new ConfigurationError('source', `must name where the event comes from; got ${show(source)}`)
  if (typeof namespace === 'string') return { source, namespace }
  throw new ConfigurationError(
    'namespace',
    "must be a string here: no request says which one, so pass ingest(event, { source, namespace: 'acme' })",
  )
}

function bytesOf(event: object | Uint8Array): Uint8Array {
  // Avoids `instanceof`: the bytes may come from another realm, as in some test runners.
  if (ArrayBuffer.isView(event) && 'BYTES_PER_ELEMENT' in event && event.BYTES_PER_ELEMENT === 1) return event
  const isObject = typeof event === 'object' && event !== null && !ArrayBuffer.isView(event)
  const text = isObject ? JSON.stringify(event) : undefined
  if (text !== undefined) return new TextEncoder().encode(text)
  throw new ConfigurationError(
    'event',
    `must be an event, or its JSON as bytes (a Uint8Array); got ${show(event)}`,
  )
}
