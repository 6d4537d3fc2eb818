import { invalid } from '../errors/emulator-error.ts'
import { readAll } from '../lib/read-fields.ts'
import type { Read, Table } from '../shapes/field.ts'
import { MIN_TEXT, PAGE } from '../shapes/requests.ts'
import type { DeliveryPage } from '../storage/delivery-query.ts'

/** Reads a filter for deliveries, and what else its table has. Ages are relative to `now`. Throws `EmulatorError`. */
export function readSelection<T extends Table>(table: T, value: object, where: string, now: number): Read<T> {
  const fields: Read<T> & { readonly text?: unknown } = readAll(table, value, where, now)
  if (fields.text !== undefined && [...String(fields.text)].length < MIN_TEXT) {
    throw invalid('text', `must have at least ${MIN_TEXT} characters: the index cannot find fewer`)
  }
  return fields
}

/** Reads `after`, `order` and `limit`. */
export function readPage(page: object): DeliveryPage {
  const { limit = 50, order, after } = readAll(PAGE, page, 'page')
  return { limit, oldestFirst: order === 'oldest', ...(after !== undefined && { after }) }
}
