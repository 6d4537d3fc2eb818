import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import type { Fields } from '../lib/read-fields.ts'
import type { InboundMessage } from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'

/** The four fields of `POST /v1/messages`. */
export interface OutboundMessage {
  readonly channel: string
  readonly to: string
  readonly template: string
  readonly variables: Readonly<Record<string, unknown>> | null
}

/**
 * Checks only what is published about a request: the four fields and their types. Other fields are allowed.
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

/** Checks an inbound message, whose format is not published. */
export function readInbound(value: unknown): InboundMessage {
  const fields = sized(objectOf(value))
  const { channel = 'whatsapp' } = fields
  return {
    channel: required({ channel }, 'channel'),
    from: numberOf(fields, 'from'),
    text: required(fields, 'text'),
  }
}

function sized(fields: Fields): Fields {
  if (Buffer.byteLength(JSON.stringify(fields)) <= LIMITS.messageBytes) return fields
  throw new EmulatorError('too_large', `a message may have at most ${LIMITS.messageBytes} bytes`)
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
  throw invalid(name, value === undefined ? 'is missing' : 'must be a string')
}

function numberOf(fields: Fields, name: string): string {
  const value = required(fields, name)
  if (LIMITS.phoneNumber.test(value)) return value
  throw invalid(name, 'must be a phone number in international format with a leading +')
}
