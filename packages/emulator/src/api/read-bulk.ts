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
  readonly place: BulkPlace
}

/** Position in a change of many deliveries, and what it concerns: those that matched when it began. */
export interface BulkPlace {
  /** `seq` of the last delivery that was changed. */
  readonly after: number
  /** Newest delivery to change: a replay that fails immediately would match again. */
  readonly upTo: number
  /** Deliveries that ended later stay as they are. */
  readonly endedBy: number
}

/** Checks the options of a bulk call. Throws `EmulatorError`. */
export function readBulk(options: object, now: number, newest: () => number): Bulk {
  const fields = fieldsOf(options, ['filter', 'dryRun', 'limit', 'after'], 'options')
  const cursor = textField(fields, 'after')
  const { filter = {} } = fields
  const place = cursor === undefined ? { after: 0, upTo: newest(), endedBy: now } : parsePlace(cursor)
  return {
    // Ages in the filter are relative to when the change began, too.
    filter: {
      ...{ state: 'undelivered', endedBy: place.endedBy },
      ...readSelection(filter as object, place.endedBy),
    },
    dryRun: booleanField(fields, 'dryRun') ?? false,
    limit: countField(fields, 'limit', 1, MAX_BULK) ?? MAX_BULK,
    place,
  }
}

function parsePlace(cursor: string): BulkPlace {
  const [, after, upTo, endedBy] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (after === undefined) throw invalid('after', 'must be the `next` of the previous call')
  return { after: Number(after), upTo: Number(upTo), endedBy: Number(endedBy) }
}

/** Returns the cursor that continues at a place. */
export function formatPlace({ after, upTo, endedBy }: BulkPlace): string {
  return `${after}.${upTo}.${endedBy}`
}
