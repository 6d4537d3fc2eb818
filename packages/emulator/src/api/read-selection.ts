import { invalid } from '../errors/emulator-error.ts'
import { LIMITS } from '../lib/limits.ts'
import {
  choiceField,
  countField,
  type Fields,
  fieldsOf,
  instantField,
  patternField,
  textField,
  withoutUndefined,
} from '../lib/read-fields.ts'
import type { DeliveryFilter, DeliveryPage } from '../storage/delivery-query.ts'
import { KINDS, STATES } from '../storage/delivery-row.ts'
import type { DeliverySelection } from './emulator-api.ts'

/** Shortest text that the trigram index can find. */
const MIN_TEXT = 3
const ORDERS = ['newest', 'oldest'] as const

export const SELECTION_NAMES: readonly string[] = [
  'workspace',
  'category',
  'type',
  'state',
  'kind',
  'status',
  'event',
  'message',
  'from',
  'to',
  'text',
] satisfies (keyof DeliverySelection)[]

/** Checks a filter, parsing numbers, and ages relative to `now`. Throws `EmulatorError`. */
export function readSelection(selection: object, now: number): DeliveryFilter {
  const fields = fieldsOf(selection, SELECTION_NAMES, 'filter')
  const text = textField(fields, 'text')
  if (text !== undefined && [...text].length < MIN_TEXT) {
    throw invalid('text', `must have at least ${MIN_TEXT} characters: the index cannot find fewer`)
  }
  return withoutUndefined({
    workspace: textField(fields, 'workspace'),
    category: textField(fields, 'category'),
    type: patternField(fields, 'type'),
    state: choiceField(fields, 'state', STATES),
    kind: choiceField(fields, 'kind', KINDS),
    status: countField(fields, 'status', 100, 999),
    event: textField(fields, 'event'),
    message: textField(fields, 'message'),
    from: instantField(fields, 'from', now),
    to: instantField(fields, 'to', now),
    text,
  })
}

/** Checks `after`, `order` and `limit`. */
export function readPage(page: object): DeliveryPage {
  const fields = fieldsOf(page, ['after', 'order', 'limit'], 'page')
  const after = countField(fields, 'after', 0, Number.MAX_SAFE_INTEGER)
  return {
    limit: countField(fields, 'limit', 1, LIMITS.page) ?? 50,
    oldestFirst: choiceField(fields, 'order', ORDERS) === 'oldest',
    ...(after !== undefined && { after }),
  }
}

/** Separates a selection's fields from all others. */
export function splitSelection(fields: Fields): { readonly selection: Fields; readonly rest: Fields } {
  const entries = Object.entries(fields)
  return {
    selection: Object.fromEntries(entries.filter(([name]) => SELECTION_NAMES.includes(name))),
    rest: Object.fromEntries(entries.filter(([name]) => !SELECTION_NAMES.includes(name))),
  }
}
