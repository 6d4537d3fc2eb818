import type { EnvelopeFields } from '@ackhook/core'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { categoryOf, envelopeOf, readRawData, toOutgoingEvent } from '../events/event-input.ts'
import { memberOf, replaceMembers } from '../events/replace-members.ts'
import { newId } from '../lib/ids.ts'
import type { Read } from '../shapes/field.ts'
import type { REPLAY } from '../shapes/requests.ts'
import type { DeliveryRow, NewDelivery } from '../storage/delivery-row.ts'
import type { Storage } from '../storage/storage.ts'

const EDITS = ['data', 'rawData', 'body'] as const

type Fields = Read<typeof REPLAY>

type Replay = Omit<NewDelivery, 'created_at' | 'next_at' | 'draw'>

/** Returns the fields of a delivery that repeats another. Throws `EmulatorError`. */
export function toReplay(
  row: DeliveryRow,
  fields: Fields,
  { deliveries }: Storage,
  names: EnvelopeFields,
): Replay {
  const { mode = 'signed' } = fields
  if (mode !== 'edited' && EDITS.some(name => fields[name] !== undefined)) {
    throw invalid('mode', "must be 'edited' to send another body or data")
  }
  const same: Replay = {
    workspace: row.workspace,
    event_id: row.event_id,
    type: row.type,
    category: row.category,
    message: row.message,
    kind: 'replay',
    state: 'pending',
    origin: row.id,
    body: deliveries.bodyOf(row.seq),
  }
  if (mode === 'signed') return same
  if (mode === 'exact') return { ...same, headers: sentHeaders(row, deliveries) }
  const text = editedText(row, Buffer.from(same.body).toString('utf8'), fields, names)
  const { id, type, body } = toOutgoingEvent({ body: text }, 0, names)
  return { ...same, event_id: id, type, category: categoryOf(type), body }
}

function sentHeaders(row: DeliveryRow, deliveries: Storage['deliveries']): string {
  const last = deliveries.attemptsOf(row.seq).at(-1)
  if (last !== undefined) return last.headers
  throw new EmulatorError(
    'conflict',
    `the delivery ${row.id} has not been sent: there is no request to repeat`,
  )
}

/** Returns the text of the edited event, with its own id. All unedited text stays as written. */
function editedText(row: DeliveryRow, sent: string, fields: Fields, names: EnvelopeFields): string {
  const [edit, other] = EDITS.filter(name => fields[name] !== undefined)
  if (edit === undefined) throw invalid('body', 'is missing: give data, rawData or body')
  if (other !== undefined) throw invalid(edit, `and ${other} cannot be given together`)
  const id = { [names.id]: JSON.stringify(newId('evt_')) }
  if (edit !== 'body') return replaceMembers(sent, { ...id, [names.data]: editedData(sent, fields, names) })
  const { body = '' } = fields
  return envelopeOf(body, names).id === row.event_id ? replaceMembers(body, id) : body
}

/** Replaces members of `data` and keeps the text of all others. */
function editedData(sent: string, { data, rawData }: Fields, names: EnvelopeFields): string {
  if (rawData !== undefined) return readRawData(rawData)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw invalid('data', 'must be an object')
  const changes = Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)])
  const old = memberOf(sent, names.data) ?? ''
  return replaceMembers(old.startsWith('{') ? old : '{}', Object.fromEntries(changes))
}
