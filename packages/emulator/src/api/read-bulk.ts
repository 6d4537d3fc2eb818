import { invalid } from '../errors/emulator-error.ts'
import { booleanField, countField, fieldsOf, textField } from '../lib/read-fields.ts'
import type { DeliveryFilter } from '../storage/delivery-query.ts'
import { readSelection } from './read-selection.ts'

/** Maximum number of deliveries in one call, which keeps its transaction short. */
const MAX_BULK = 1000

/** A checked call about many deliveries. */
export interface Bulk {
  readonly filter: DeliveryFilter
  readonly dryRun: boolean
  readonly limit: number
  readonly after?: number
  /** Newest delivery to change: a replay that fails immediately would match again. */
  readonly upTo: number
}

/** Checks the options of a bulk call. Throws `EmulatorError`. */
export function readBulk(options: object, now: number, newest: () => number): Bulk {
  const fields = fieldsOf(options, ['filter', 'dryRun', 'limit', 'after'], 'options')
  const cursor = textField(fields, 'after')
  const [, after, upTo] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor ?? '') ?? []
  if (cursor !== undefined && after === undefined)
    throw invalid('after', 'must be the `next` of the previous call')
  const { filter = {} } = fields
  return {
    filter: { state: 'undelivered', ...readSelection(filter as object, now) },
    dryRun: booleanField(fields, 'dryRun') ?? false,
    limit: countField(fields, 'limit', 1, MAX_BULK) ?? MAX_BULK,
    upTo: upTo === undefined ? newest() : Number(upTo),
    ...(after !== undefined && { after: Number(after) }),
  }
}
