import type { EnvelopeFields } from '@ackhook/core'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { categoryOf } from '../events/categories.ts'
import { envelopeOf, toOutgoingEvent } from '../events/event-input.ts'
import { newId } from '../lib/ids.ts'
import { choiceField, fieldsOf, textField } from '../lib/read-fields.ts'
import type { DeliveryRow, NewDelivery } from '../storage/delivery-row.ts'
import type { Storage } from '../storage/storage.ts'
import type { ReplayOptions } from './emulator-api.ts'

const MODES = ['signed', 'exact', 'edited'] as const
const MAX_BODY = 262_144

type Replay = Omit<NewDelivery, 'created_at' | 'next_at' | 'draw'>

/** The delivery that repeats another one. Throws `EmulatorError`. */
export function toReplay(
  row: DeliveryRow,
  options: ReplayOptions,
  { deliveries }: Storage,
  names: EnvelopeFields,
): Replay {
  const fields = fieldsOf(options, ['mode', 'data', 'body'], 'options')
  const mode = choiceField(fields, 'mode', MODES) ?? 'signed'
  if (mode !== 'edited' && (fields['data'] ?? fields['body']) !== undefined) {
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
  const edits = { data: fields['data'], body: textField(fields, 'body', MAX_BODY) }
  const text = editedText(row, Buffer.from(same.body).toString('utf8'), edits, names)
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

/** The text of the edited event, with an id of its own. Everything that was not edited stays as it was written. */
function editedText(
  row: DeliveryRow,
  sent: string,
  { data, body }: { readonly data: unknown; readonly body: string | undefined },
  names: EnvelopeFields,
): string {
  if (body !== undefined && data !== undefined) throw invalid('data', 'and body cannot be given together')
  if (body === undefined && data === undefined) throw invalid('body', 'is missing: what is to be edited?')
  const id = newId('evt_')
  if (body === undefined) return JSON.stringify({ ...JSON.parse(sent), [names.id]: id, [names.data]: data })
  if (envelopeOf(body, names).id !== row.event_id) return body
  const edited = body.replace(JSON.stringify(row.event_id), JSON.stringify(id))
  if (envelopeOf(edited, names).id === id) return edited
  throw invalid('body', 'must have another id: the same event would be a duplicate')
}
