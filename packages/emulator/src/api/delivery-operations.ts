import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { booleanField, countField, fieldsOf, textField } from '../lib/read-fields.ts'
import type { DeliveryFilter } from '../storage/delivery-query.ts'
import type { DeliveryRow } from '../storage/delivery-row.ts'
import {
  type DeliveryDetail,
  type DeliveryView,
  type SavedRequest,
  toDeliveryDetail,
  toDeliveryView,
  toSavedRequest,
} from './delivery-view.ts'
import type {
  BulkOptions,
  BulkResult,
  DeliverySelection,
  EmulatorApi,
  PageOptions,
  ReplayOptions,
} from './emulator-api.ts'
import type { Parts } from './parts.ts'
import { readPage, readSelection } from './read-selection.ts'
import { toReplay } from './replay.ts'

/** Reads the log, and repeats or discards deliveries. */
export class DeliveryOperations implements Pick<EmulatorApi, 'deliveries'> {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly deliveries: EmulatorApi['deliveries'] = {
    list: async (filter = {}, page = {}) => this.#list(filter, page),
    get: async id => this.#detail(id),
    body: async id => this.#parts.storage.deliveries.bodyOf(this.#require(id).seq),
    request: async id => this.#request(id),
    replay: async (id, options = {}) => this.#replay(id, options),
    retryNow: async id => this.#retryNow(id),
    discard: async id => this.#discard(id),
    replayMatching: async (options = {}) =>
      this.#forMatching(options, row => {
        if (row.state !== 'undelivered') this.#parts.intake.requireRoom(1)
        return this.#replayRow(row, {}) !== undefined
      }),
    discardMatching: async (options = {}) => this.#forMatching(options, row => this.#discardRow(row)),
  }

  #list(
    selection: DeliverySelection,
    options: PageOptions,
  ): { readonly deliveries: readonly DeliveryView[]; readonly next: string | null } {
    const page = readPage(options)
    const { storage, clock } = this.#parts
    const rows = storage.query.page(readSelection(selection, clock.now()), { ...page, limit: page.limit + 1 })
    const shown = rows.slice(0, page.limit)
    const next = rows.length > shown.length ? String(shown.at(-1)?.seq) : null
    return { deliveries: shown.map(toDeliveryView), next }
  }

  #detail(id: string): DeliveryDetail {
    const { deliveries } = this.#parts.storage
    const row = this.#require(id)
    return toDeliveryDetail(row, deliveries.bodyOf(row.seq), deliveries.attemptsOf(row.seq))
  }

  #request(id: string): SavedRequest {
    const { deliveries } = this.#parts.storage
    const { seq } = this.#require(id)
    const last = deliveries.attemptsOf(seq).at(-1)
    if (last === undefined) throw new EmulatorError('conflict', `the delivery ${id} has not been sent yet`)
    return toSavedRequest(last, deliveries.bodyOf(seq))
  }

  #require(id: string): DeliveryRow {
    const row = this.#parts.storage.deliveries.byId(String(id))
    if (row === undefined) throw new EmulatorError('not_found', `there is no delivery ${id}`)
    return row
  }

  #replay(id: string, options: ReplayOptions): DeliveryView {
    const row = this.#require(id)
    if (row.state !== 'undelivered') this.#parts.intake.requireRoom(1)
    const replayed = this.#write(() => this.#replayRow(row, options))
    setImmediate(() => this.#parts.engine.startDue())
    return toDeliveryView(replayed)
  }

  /** Replays a row. Call it within a transaction. */
  #replayRow(row: DeliveryRow, options: ReplayOptions): DeliveryRow {
    const { storage, clock, counts, endpoints, intake, changed } = this.#parts
    const { rules } = this.#parts.options
    endpoints.require(row.workspace)
    const now = clock.now()
    const replayed = storage.deliveries.insert({
      ...toReplay(row, options, storage, rules.fields),
      draw: `replay ${intake.nextDraw()}`,
      created_at: now,
      next_at: now,
    })
    counts.add('pending')
    changed(replayed.seq)
    if (
      storage.deliveries.changeState(row.seq, 'undelivered', 'replayed', `replayed as ${replayed.id}`, now)
    ) {
      counts.move('undelivered', 'replayed')
      changed(row.seq)
    }
    return replayed
  }

  #retryNow(id: string): DeliveryView {
    const { storage, clock, engine, changed } = this.#parts
    const row = this.#require(id)
    if (row.state !== 'pending')
      throw new EmulatorError('conflict', `the delivery ${id} is ${row.state}: replay it`)
    storage.deliveries.makeDue(row.seq, clock.now())
    changed(row.seq)
    setImmediate(() => engine.startDue())
    return toDeliveryView(this.#require(id))
  }

  #discard(id: string): DeliveryView {
    const row = this.#require(id)
    if (!this.#discardRow(row)) {
      throw new EmulatorError(
        'conflict',
        `the delivery ${id} is ${row.state}: only pending and undelivered ones can be discarded`,
      )
    }
    return toDeliveryView(this.#require(id))
  }

  #discardRow({ seq, state }: DeliveryRow): boolean {
    const { storage, clock, counts, changed } = this.#parts
    if (state !== 'pending' && state !== 'undelivered') return false
    if (!storage.deliveries.changeState(seq, state, 'discarded', 'discarded on request', clock.now()))
      return false
    counts.move(state, 'discarded')
    changed(seq)
    return true
  }

  /** Applies `act` to the oldest matching deliveries, in one transaction. */
  #forMatching(options: BulkOptions, act: (row: DeliveryRow) => boolean): BulkResult {
    const { storage, engine, clock } = this.#parts
    const { filter, dryRun, limit, place } = readBulk(options, clock.now(), () => this.#newestSeq())
    const matched = storage.query.count(filter)
    if (dryRun) return { matched, done: 0, next: matched === 0 ? null : formatPlace(place) }
    const page = storage.query.page(filter, { limit: limit + 1, oldestFirst: true, after: place.after })
    const rows = page.filter(({ seq }) => seq <= place.upTo)
    const acted = rows.slice(0, limit)
    const done = this.#write(() => acted.filter(act).length)
    setImmediate(() => engine.startDue())
    const last = acted.at(-1)
    const hasMore = rows.length > acted.length && last !== undefined
    return { matched, done, next: hasMore ? formatPlace({ ...place, after: last.seq }) : null }
  }

  /** Runs `work` in a transaction, and recounts if it fails. */
  #write<T>(work: () => T): T {
    const { storage, counts } = this.#parts
    try {
      return storage.transaction(work)
    } catch (error) {
      counts.replace(storage.deliveries.counts())
      throw error
    }
  }

  #newestSeq(): number {
    return this.#parts.storage.query.page({}, { limit: 1 })[0]?.seq ?? 0
  }
}

/** Maximum number of deliveries in one call, which keeps its transaction short. */
const MAX_BULK = 1000

/** A checked call about many deliveries. */
interface Bulk {
  readonly filter: DeliveryFilter
  readonly dryRun: boolean
  readonly limit: number
  readonly place: BulkPlace
}

/** Position in a change of many deliveries, and what it concerns: those that matched when it began. */
interface BulkPlace {
  /** `seq` of the last delivery that was changed. */
  readonly after: number
  /** Newest delivery to change: a replay that fails immediately would match again. */
  readonly upTo: number
  /** Deliveries that ended later stay as they are. */
  readonly endedBy: number
}

/** Checks the options of a bulk call. Throws `EmulatorError`. */
function readBulk(options: object, now: number, newest: () => number): Bulk {
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
function formatPlace({ after, upTo, endedBy }: BulkPlace): string {
  return `${after}.${upTo}.${endedBy}`
}
