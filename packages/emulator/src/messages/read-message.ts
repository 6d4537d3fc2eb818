import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import type { Fields } from '../lib/read-fields.ts'

/** The four fields of `POST /v1/messages`. */
export interface OutboundMessage {
  readonly channel: string
  readonly to: string
  readonly template: string
  readonly variables: Readonly<Record<string, unknown>> | null
}

/** A message of a customer. Nothing is published about one. */
export interface InboundMessage {
  /** Default `'whatsapp'`. */
  readonly channel: string
  readonly from: string
  readonly text: string
}

/** A leading plus and digits: more is not published about the number. */
const MAX_MESSAGE_BYTES = 65_536
const NUMBER = /^\+\d{1,15}$/

/**
 * Checks a request exactly as far as it is published: the four fields and their types. A field that is not among them
 * is no error.
 */
export function readOutbound(value: unknown): OutboundMessage {
  const fields = sized(objectOf(value))
  const { variables } = fields
  if (variables !== undefined && !isObject(variables)) throw invalid('variables', 'must be an object')
  return {
    channel: required(fields, 'channel'),
    to: numberOf(fields, 'to'),
    template: required(fields, 'template'),
    variables: variables ?? null,
  }
}

/** An inbound message. Nothing is published about one. */
export function readInbound(value: unknown): InboundMessage {
  const fields = sized(objectOf(value))
  const { channel = 'whatsapp' } = fields
  return {
    channel: required({ channel }, 'channel'),
    from: numberOf(fields, 'from'),
    text: required(fields, 'text'),
  }
}

/** Every list shows whole messages. A limit of the platform is not published. */
function sized(fields: Fields): Fields {
  if (Buffer.byteLength(JSON.stringify(fields)) <= MAX_MESSAGE_BYTES) return fields
  throw new EmulatorError('too_large', `a message may have ${MAX_MESSAGE_BYTES} bytes`)
}

function objectOf(value: unknown): Fields {
  if (isObject(value)) return value
  throw invalid('body', 'must be a JSON object')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function required(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '') return value
  throw invalid(name, value === undefined ? 'is missing' : 'must be a text')
}

function numberOf(fields: Fields, name: string): string {
  const value = required(fields, name)
  if (NUMBER.test(value)) return value
  throw invalid(name, 'must be a phone number in international format with a leading +')
}
