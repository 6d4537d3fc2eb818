import { invalid } from '../errors/emulator-error.ts'
import { booleanField, countField, fieldsOf, textField } from '../lib/read-fields.ts'
import type { DeliveryFilter } from '../storage/delivery-query.ts'
import { readSelection } from './read-selection.ts'

/** Deliveries of one call: a transaction that long is over in a moment. */
const MAX_BULK = 1000

/** A checked call about many deliveries. */
export interface Bulk {
  readonly filter: DeliveryFilter
  readonly dryRun: boolean
  readonly limit: number
  readonly after?: number
  /** Newer ones are left alone: a replay that fails at once would match again. */
  readonly upTo: number
}

/** Checks the options of such a call. Throws `EmulatorError`. */
export function readBulk(options: object, now: number, newest: () => number): Bulk {
  const fields = fieldsOf(options, ['filter', 'dryRun', 'limit', 'after'], 'options')
  const cursor = textField(fields, 'after')
  const [, after, upTo] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor ?? '') ?? []
  if (cursor !== undefined && after === undefined) throw invalid('after', 'must be next of the call before')
  const { filter = {} } = fields
  return {
    filter: { state: 'undelivered', ...readSelection(filter as object, now) },
    dryRun: booleanField(fields, 'dryRun') ?? false,
    limit: countField(fields, 'limit', 1, MAX_BULK) ?? MAX_BULK,
    upTo: upTo === undefined ? newest() : Number(upTo),
    ...(after !== undefined && { after: Number(after) }),
  }
}
