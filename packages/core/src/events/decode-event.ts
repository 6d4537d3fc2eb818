import type { StandardSchemaV1 } from '@standard-schema/spec'
import { platform } from '#platform'
import { Refusal } from '../errors/refusal.ts'
import type { HeaderSource } from '../http/request.ts'
import { answerInTime, DeadlineError } from '../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { encodeText } from '../lib/utf8.ts'
import { type Contract, type EnvelopeFields, PUBLISHED_FIELDS, type UncheckedEvent } from './contract.ts'
import type { EventSchemas, WebhookEvent } from './event-types.ts'
import { parseSafeJson } from './safe-json.ts'

/** Turns verified bytes into a current, valid event. `headers`: those of a delivery that arrives, which taps may see. */
export type DecodeEvent = (body: Uint8Array, headers?: HeaderSource) => MaybePromise<WebhookEvent | Refusal>

/** A genuine delivery, as a tool sees it once its envelope was checked, also if it was refused. */
export interface TappedDelivery {
  /** The parsed body. Its size and depth are within the receiver's limits. */
  readonly value: unknown
  /** The type if it is valid, so at most 255 bytes without control characters; otherwise `''`. */
  readonly type: string
  readonly headers: HeaderSource
}

/**
 * Sees each genuine delivery. Must neither throw nor change the value, and should take no more than some twenty steps a byte:
 * part of an event is written by the platform's own users, and handlers wait for the tap.
 */
export type DeliveryTap = (delivery: TappedDelivery) => void

/**
 * Creates a decoder: it parses the body, checks the envelope, upcasts it, then applies the schema for the upcast event's
 * type.
 */
export function createDecoder(
  contract: Contract,
  schemas: EventSchemas,
  taps?: { readonly tap: DeliveryTap | undefined },
): DecodeEvent {
  const byType = new Map(Object.entries(schemas))
  return (body, headers) => {
    const value = parseBody(platform.decodeText(body))
    if (value instanceof Refusal) return value
    const event = envelopeOf(value, contract)
    if (headers !== undefined) taps?.tap?.({ value, headers, type: typeIn(value, contract.fields) })
    if (event instanceof Refusal) return event
    if (isLossy(event, body)) return new Refusal('envelope_invalid', { detail: LOSSY })
    const current = contract.upcast === undefined ? event : upcast(event, contract.upcast)
    if (current instanceof Refusal) return current
    const schema = byType.get(current.type)
    return schema === undefined ? current : validate(current, schema)
  }
}

const LOSSY = "'id' or 'type' is not valid UTF-8"

/**
 * Returns whether decoding may have replaced invalid UTF-8 in the id or the type. Each such byte becomes U+FFFD, so two
 * ids that differ only there would become one.
 */
function isLossy({ id, type }: UncheckedEvent, body: Uint8Array): boolean {
  if (!id.includes('\uFFFD') && !type.includes('\uFFFD')) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body)
    return false
  } catch {
    return true
  }
}

function upcast(event: UncheckedEvent, step: NonNullable<Contract['upcast']>): UncheckedEvent | Refusal {
  const { id, type } = event
  try {
    const answer = step(event)
    // Silences the promise's rejection: returning one already refuses the event.
    if (isPromise(answer)) Promise.resolve(answer).catch(() => {})
    // The inbox remembers the event by its signed id: an upcast must not change it, not even by mutation.
    const current = answer?.id === id ? answer : { ...answer, id }
    const fault = envelopeFault(current, PUBLISHED_FIELDS)
    if (fault === undefined) return current
    return new Refusal('event_invalid', {
      detail: `contract.upcast returned no event for '${type}': ${fault}; is it asynchronous?`,
    })
  } catch (cause) {
    return new Refusal('event_invalid', { detail: `contract.upcast threw for '${type}'`, cause })
  }
}

async function validate(event: UncheckedEvent, schema: StandardSchemaV1): Promise<WebhookEvent | Refusal> {
  try {
    const result = await answerInTime(
      schema['~standard'].validate(event.data),
      `the schema for '${event.type}'`,
    )
    if (result.issues === undefined) {
      const fault = answerFault(result)
      if (fault === undefined) return { ...event, data: result.value } as WebhookEvent
      return new Refusal('event_invalid', { detail: `the schema for '${event.type}' ${fault}` })
    }
    return new Refusal('event_invalid', { detail: describe(event.type, result.issues) })
  } catch (cause) {
    if (cause instanceof DeadlineError) return new Refusal('schema_unavailable', { detail: cause.message })
    return new Refusal('event_invalid', { detail: `the schema for '${event.type}' threw`, cause })
  }
}

/** Says what is wrong with a schema's answer without issues: data that nobody has checked must not reach a handler. */
function answerFault(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('value' in answer))
    return 'returned neither a value nor issues: is it a Standard Schema?'
  const { value } = answer
  if (value === undefined) return 'returned no value: its output must be the data for the handlers'
  return typeof value === 'function' || isPromise(value)
    ? 'returned a value that is a function or a promise: its output must be the data for the handlers'
    : undefined
}

const MAX_PLACES = 5
/** Pattern of a field name. Other keys are probably data, such as an address or a number used as a key. */
const NAME = /^[A-Za-z_][\w-]{0,63}$/

/** Reports paths, never values: some libraries quote the value, and payload data belongs in no log. */
function describe(type: string, issues: readonly StandardSchemaV1.Issue[]): string {
  const places = [...new Set(issues.map(({ path = [] }) => ['data', ...path.map(nameOf)].join('.')))]
  const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : ''
  return `'${type}' does not match its schema in ${places.slice(0, MAX_PLACES).join(', ')}${more}`
}

function nameOf(part: PropertyKey | StandardSchemaV1.PathSegment): string {
  const key = typeof part === 'object' ? part.key : part
  return typeof key === 'number' || NAME.test(String(key)) ? String(key) : '*'
}

const MAX_NAME_BYTES = 255
const ASCII = /^[ -~]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FORBIDDEN = /[\u0000-\u001f\u007f\p{Surrogate}]/u

/**
 * Parses the event in a verified body. Ids and types are strings of 1 to 255 bytes without control characters or lone
 * surrogates: numeric ids beyond 2^53, or ids that differ only in a lone surrogate, would collide. Unknown fields are
 * kept.
 */
export function parseEnvelope(text: string, contract: Contract): UncheckedEvent | Refusal {
  const value = parseBody(text)
  return value instanceof Refusal ? value : envelopeOf(value, contract)
}

function parseBody(text: string): unknown {
  try {
    return parseSafeJson(text)
  } catch {
    // A SyntaxError's message quotes the payload, which belongs in no log.
    return new Refusal('json_invalid', { detail: 'the body is not JSON' })
  }
}

function envelopeOf(value: unknown, { fields }: Contract): UncheckedEvent | Refusal {
  const fault = envelopeFault(value, fields)
  if (fault !== undefined) return new Refusal('envelope_invalid', { detail: fault })
  const event = value as UncheckedEvent
  if (fields === PUBLISHED_FIELDS) return event
  const { id, type, created_at, data } = fields
  return {
    ...event,
    id: event[id],
    type: event[type],
    created_at: event[created_at],
    data: event[data],
  } as UncheckedEvent
}

/** Describes why a value is not an event with these fields. Never includes their values. */
export function envelopeFault(value: unknown, fields: EnvelopeFields): string | undefined {
  const { id, type, created_at, data } = fields
  if (!isRecord(value)) return 'the body is not a JSON object'
  if (!isName(value[id])) return `'${id}' is not a string of 1 to 255 bytes`
  if (!isName(value[type])) return `'${type}' is not a string of 1 to 255 bytes`
  if (typeof value[created_at] !== 'string') return `'${created_at}' is not a string`
  return isRecord(value[data]) ? undefined : `'${data}' is not an object`
}

function typeIn(value: unknown, { type }: EnvelopeFields): string {
  const name = isRecord(value) ? value[type] : undefined
  return isName(name) ? name : ''
}

function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_NAME_BYTES) return false
  // Names are ASCII in practice.
  if (ASCII.test(value)) return true
  return value !== '' && !FORBIDDEN.test(value) && encodeText(value).length <= MAX_NAME_BYTES
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
