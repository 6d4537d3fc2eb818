import { Refusal } from '../errors/refusal.ts'
import { type Contract, type EnvelopeFields, PUBLISHED_FIELDS, type UncheckedEvent } from './contract.ts'
import { parseSafeJson } from './safe-json.ts'

const MAX_NAME_BYTES = 255
const ASCII = /^[ -~]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FORBIDDEN = /[\u0000-\u001f\u007f\p{Surrogate}]/u
const encoder = new TextEncoder()

/**
 * The event in a body whose signature holds. Ids and types are strings of 1 to 255 bytes without control
 * characters or lone surrogates: two numeric ids beyond 2^53 would become one number, and two ids that differ
 * in a lone surrogate one and the same UTF-8. Unknown fields are kept.
 */
export function parseEnvelope(text: string, contract: Contract): UncheckedEvent | Refusal {
  let value: unknown
  try {
    value = parseSafeJson(text)
  } catch {
    // The text of a SyntaxError quotes the payload, and that belongs in no log.
    return new Refusal('json_invalid', { detail: 'the body is not JSON' })
  }
  const { fields } = contract
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

/** What keeps a value from being an event with these fields; never what is in them. */
export function envelopeFault(value: unknown, fields: EnvelopeFields): string | undefined {
  const { id, type, created_at, data } = fields
  if (!isRecord(value)) return 'the body is not a JSON object'
  if (!isName(value[id])) return `'${id}' is not a string of 1 to 255 bytes`
  if (!isName(value[type])) return `'${type}' is not a string of 1 to 255 bytes`
  if (typeof value[created_at] !== 'string') return `'${created_at}' is not a string`
  return isRecord(value[data]) ? undefined : `'${data}' is not an object`
}

function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_NAME_BYTES) return false
  // Names are ASCII in practice.
  if (ASCII.test(value)) return true
  return value !== '' && !FORBIDDEN.test(value) && encoder.encode(value).length <= MAX_NAME_BYTES
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
