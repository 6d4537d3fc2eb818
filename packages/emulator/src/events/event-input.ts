import type { EnvelopeFields } from '@ackhook/core'
import { createEvent, seededRandom } from '@ackhook/testing'
import { eventBytes } from '@ackhook/testing/spi'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { newId } from '../lib/ids.ts'
import { type Fields, readKnown, withoutUndefined } from '../lib/read-fields.ts'
import { EVENT } from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'
import { replaceMembers } from './replace-members.ts'

/** Categories that the platform has announced. Others are accepted, as the list may grow. */
export const CATEGORIES: readonly string[] = ['message', 'conversation', 'call', 'campaign', 'contact']

/** The only published type. Every other name is a guess. */
const PUBLISHED: readonly string[] = ['conversation.resolved']

/** Returns a type's category: `conversation` for `conversation.resolved`. */
export function categoryOf(type: string): string {
  const dot = type.indexOf('.')
  return dot < 0 ? type : type.slice(0, dot)
}

/** Returns whether this type's name is a guess. */
export function isGuess(type: string): boolean {
  return !PUBLISHED.includes(type)
}

/** An event with its exact bytes. */
export interface OutgoingEvent {
  readonly id: string
  readonly type: string
  readonly body: Uint8Array
}

/**
 * Converts a requested event. `body` is sent unchanged, byte for byte. Otherwise the event is an envelope: an omitted
 * id, time or `data` is generated, and `rawData` becomes `data` unchanged. Throws `EmulatorError`.
 */
export function toOutgoingEvent(value: unknown, now: number, names: EnvelopeFields): OutgoingEvent {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('events', 'must be objects with a type, or with the exact body')
  }
  const fields = value as Fields
  if (fields['body'] !== undefined) return exactEvent(fields, names)
  const { type, id = newId('evt_'), seed } = readKnown(EVENT, fields)
  if (type === undefined) throw invalid('type', "is missing: 'conversation.resolved', for example")
  const { rawData, seed: _, ...envelope } = withoutUndefined(fields)
  const { data } = fields
  if (data !== undefined && !isObject(data)) throw invalid('data', 'must be an object')
  const sources = { clock: () => now, ...(seed !== undefined && { random: seededRandom(seed) }) }
  const body = eventBytes(createEvent(type, { ...envelope, id }, sources), names)
  return sized({ id, type, body: rawData === undefined ? body : withRawData(body, fields, names) })
}

function withRawData(body: Uint8Array, { data, rawData }: Fields, names: EnvelopeFields): Uint8Array {
  if (data !== undefined) throw invalid('rawData', 'and data cannot be given together')
  const text = replaceMembers(Buffer.from(body).toString(), { [names.data]: readRawData(rawData) })
  return Buffer.from(text)
}

/** Checks that a value is the JSON text of an object, and returns it. Throws `EmulatorError`. */
export function readRawData(rawData: unknown): string {
  if (typeof rawData !== 'string') throw invalid('rawData', 'must be the JSON text of an object')
  let parsed: unknown
  try {
    parsed = JSON.parse(rawData)
  } catch (error) {
    throw invalid('rawData', `must be JSON: ${(error as Error).message}`)
  }
  if (isObject(parsed)) return rawData
  throw invalid('rawData', 'must be the JSON text of an object')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function exactEvent(fields: Fields, names: EnvelopeFields): OutgoingEvent {
  const { body } = fields
  if (typeof body !== 'string') throw invalid('body', 'must be the exact text to send')
  const { id, type } = envelopeOf(body, names)
  return sized({ id, type, body: Buffer.from(body) })
}

/** Returns the id and type of an event's text. Throws `EmulatorError`. */
export function envelopeOf(
  text: string,
  names: EnvelopeFields,
): { readonly id: string; readonly type: string } {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw invalid('body', `must be JSON: ${(error as Error).message}`)
  }
  const envelope = (parsed ?? {}) as Fields
  const { [names.id]: id, [names.type]: type } = envelope
  if (isName(id) && isName(type)) return { id, type }
  throw invalid(
    'body',
    `must be an event: a JSON object with ${names.id} and ${names.type}, of at most ${LIMITS.nameBytes} bytes each`,
  )
}

/** Limits the length, because every list shows ids and types. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= LIMITS.nameBytes
}

function sized(event: OutgoingEvent): OutgoingEvent {
  if (event.body.length <= LIMITS.eventBytes) return event
  throw new EmulatorError(
    'too_large',
    `an event may have at most ${LIMITS.eventBytes} bytes; this one has ${event.body.length}`,
  )
}
