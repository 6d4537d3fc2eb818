import { type Contract, PUBLISHED_FIELDS, type UncheckedEvent } from './contract.ts'
import { Refusal } from './refusal.ts'
import { parseSafeJson } from './safe-json.ts'

const MAX_NAME_BYTES = 255
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FORBIDDEN = /[\u0000-\u001f\u007f\p{Surrogate}]/u

/**
 * The event in a body whose signature holds. Ids and types are strings of 1 to 255 bytes without control
 * characters or lone surrogates: two numeric ids beyond 2^53 would become one number, and two ids that differ
 * in a lone surrogate one and the same UTF-8. Fields nobody asked for are kept.
 */
export function parseEnvelope(text: string, contract: Contract): UncheckedEvent | Refusal {
  let value: unknown
  try {
    value = parseSafeJson(text)
  } catch {
    // The text of a SyntaxError quotes the payload, and that belongs in no log.
    return new Refusal('json_invalid', { detail: 'the body is not JSON' })
  }
  if (!isRecord(value)) return invalid('the body is not a JSON object')
  const { fields } = contract
  const id = value[fields.id]
  if (!isName(id)) return invalid(`'${fields.id}' is not a string of 1 to 255 bytes`)
  const type = value[fields.type]
  if (!isName(type)) return invalid(`'${fields.type}' is not a string of 1 to 255 bytes`)
  const createdAt = value[fields.created_at]
  if (typeof createdAt !== 'string') return invalid(`'${fields.created_at}' is not a string`)
  const data = value[fields.data]
  if (!isRecord(data)) return invalid(`'${fields.data}' is not an object`)
  if (fields === PUBLISHED_FIELDS) return value as UncheckedEvent
  return { ...value, id, type, created_at: createdAt, data }
}

/** Whether what a user's function gave back can still be handled as an event. The id is not its to give. */
export function isEnvelope(value: unknown): value is UncheckedEvent {
  return (
    isRecord(value) &&
    isName(value['type']) &&
    typeof value['created_at'] === 'string' &&
    isRecord(value['data'])
  )
}

function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_NAME_BYTES) return false
  // Names are ASCII in practice, and for those this loop is all there is to look at.
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i)
    if (unit > 0x7f) return !FORBIDDEN.test(value) && utf8Length(value) <= MAX_NAME_BYTES
    if (unit < 0x20 || unit === 0x7f) return false
  }
  return true
}

/** UTF-8 bytes of a well-formed string. */
function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Each half of a surrogate pair counts two: four bytes for the pair.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(detail: string): Refusal {
  return new Refusal('envelope_invalid', { detail })
}
