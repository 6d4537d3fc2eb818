import { nextAttemptAt } from '@ackhook/testing/spi'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { memberOf } from '../events/replace-members.ts'
import { readAll } from '../lib/read-fields.ts'
import { toInstant } from '../lib/time.ts'
import {
  BULK,
  type BulkOptions,
  type DeliverySelection,
  FIELD,
  type FieldOptions,
  MAX_BULK,
  type PageOptions,
  REPLAY,
  type ReplayOptions,
  SELECTION,
} from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'
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
import type { BulkResult, EmulatorApi, FailureGroup } from './emulator-api.ts'
import type { Parts } from './parts.ts'
import { readPage, readSelection } from './read-selection.ts'
import { askDashboard, type ReceiverView } from './receiver-view.ts'
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
    receiver: async id => this.#receiver(id),
    groups: async (filter = {}) => this.#groups(filter),
    fields: async options => this.#fields(options),
    body: async id => this.#parts.storage.deliveries.bodyOf(this.#require(id).seq),
    request: async id => this.#request(id),
    replay: async (id, options = {}) => this.#replay(id, options),
    retryNow: async id => this.#retryNow(id),
    discard: async id => this.#discard(id),
    replayMatching: async (options = {}) =>
      this.#forMatching(options, (row, { to, batch }) => {
        if (row.state !== 'undelivered' || to !== undefined) this.#parts.intake.requireRoom(1)
        return this.#replayRow(row, { ...(to !== undefined && { to }) }, batch) !== undefined
      }),
    discardMatching: async (options = {}) => {
      if (options.to !== undefined) throw invalid('to', 'is only for replays')
      const result = this.#forMatching(options, row => this.#discardRow(row))
      return { ...result, batch: null }
    },
  }

  #list(
    selection: DeliverySelection,
    options: PageOptions,
  ): { readonly deliveries: readonly DeliveryView[]; readonly next: string | null } {
    const page = readPage(options)
    const { storage, clock } = this.#parts
    const filter = readSelection(SELECTION, selection, 'filter', clock.now())
    const rows = storage.query.page(filter, { ...page, limit: page.limit + 1 })
    const shown = rows.slice(0, page.limit)
    const next = rows.length > shown.length ? String(shown.at(-1)?.seq) : null
    return { deliveries: shown.map(toDeliveryView), next }
  }

  #groups(selection: DeliverySelection): {
    readonly groups: readonly FailureGroup[]
    readonly counted: number
  } {
    const { storage, clock } = this.#parts
    const filter: DeliveryFilter = {
      ...readSelection(SELECTION, selection, 'filter', clock.now()),
      state: 'undelivered',
    }
    const rows = storage.query.groups(filter, MAX_GROUPS)
    const start = Math.min(...rows.map(({ first }) => first))
    const widthMs = Math.max(1, (Math.max(...rows.map(({ last }) => last)) + 1 - start) / SPARK_PARTS)
    const sparks = new Map<string, number[]>()
    const keyOf = ({ type, reply }: { readonly type: string; readonly reply: string }) => `${type}\n${reply}`
    for (const row of rows.length === 0 ? [] : storage.query.groupsOverTime(filter, start, widthMs)) {
      const spark = sparks.get(keyOf(row)) ?? Array<number>(SPARK_PARTS).fill(0)
      spark[row.bucket] = row.count
      sparks.set(keyOf(row), spark)
    }
    const groups = rows.flatMap(row => {
      const sample = storage.deliveries.bySeq(row.seq)
      if (sample === undefined) return []
      const { type, reply, count, first, last } = row
      const times = { firstAt: toInstant(first), lastAt: toInstant(last) }
      const spark = sparks.get(keyOf(row)) ?? []
      return [{ type, reply, count, ...times, sample: toDeliveryView(sample), spark }]
    })
    return { groups, counted: rows.reduce((sum, { count }) => sum + count, 0) }
  }

  #fields(options: FieldOptions): { readonly values: Readonly<Record<string, string | null>> } {
    const { ids, name } = readAll(FIELD, options, 'options')
    if (!Array.isArray(ids) || ids.length > LIMITS.page || name === undefined)
      throw invalid('ids', `must be a list of at most ${LIMITS.page} ids, with a name`)
    const { storage } = this.#parts
    const { rules } = this.#parts.options
    const values = ids.map((id): [string, string | null] => {
      const row = storage.deliveries.byId(String(id))
      if (row === undefined) return [String(id), null]
      const text = Buffer.from(storage.deliveries.bodyOf(row.seq)).toString('utf8')
      return [String(id), fieldOf(text, [rules.fields.data, ...name.split('.')])]
    })
    return { values: Object.fromEntries(values) }
  }

  #detail(id: string): DeliveryDetail {
    const { deliveries } = this.#parts.storage
    const row = this.#require(id)
    const planned = row.state === 'pending' ? this.#planned(row) : []
    return toDeliveryDetail(row, deliveries.bodyOf(row.seq), deliveries.attemptsOf(row.seq), planned)
  }

  /** Plans the next attempts as if each failed at once, without a random part. */
  #planned({ next_at, attempts, started_at }: DeliveryRow): readonly number[] {
    const { rules } = this.#parts.options
    const times: number[] = []
    for (let at = next_at ?? undefined; at !== undefined && times.length < MAX_PLANNED; ) {
      times.push(at)
      const failed = { number: attempts + times.length, now: at, startedAt: started_at ?? times[0] ?? at }
      at = nextAttemptAt(failed, () => 0.5, rules)
    }
    return times.map(Math.round)
  }

  async #receiver(id: string): Promise<ReceiverView> {
    const { event_id } = this.#require(id)
    const { targets } = this.#parts
    const { dashboard = null, traceUrl = null } = this.#parts.options
    const none = { dashboard, traceUrl, href: null, state: null, observations: [], error: null }
    if (dashboard === null) return none
    try {
      return { ...none, ...(await askDashboard(dashboard, event_id, targets.lookup)) }
    } catch (error) {
      return { ...none, error: `${dashboard}: ${error instanceof Error ? error.message : String(error)}` }
    }
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
    if (row.state !== 'undelivered' || options.to !== undefined) this.#parts.intake.requireRoom(1)
    const replayed = this.#write(() => this.#replayRow(row, options, null))
    setImmediate(() => this.#parts.engine.startDue())
    return toDeliveryView(replayed)
  }

  /** Replays a row. Call it within a transaction. */
  #replayRow(row: DeliveryRow, options: ReplayOptions, batch: string | null): DeliveryRow {
    const { storage, clock, counts, endpoints, intake, changed } = this.#parts
    const { rules } = this.#parts.options
    endpoints.require(row.workspace)
    const now = clock.now()
    const { to, ...repeat } = readAll(REPLAY, options, 'options')
    const target = to === undefined ? row.target : endpoints.requireTarget('to', to)
    const replayed = storage.deliveries.insert({
      ...toReplay(row, repeat, storage, rules.fields),
      ...{ target, batch },
      draw: `replay ${intake.nextDraw()}`,
      created_at: now,
      next_at: now,
    })
    counts.add('pending')
    changed(replayed.seq)
    // A replay to another address settles nothing.
    const isSettled = target === row.target
    if (
      isSettled &&
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
  #forMatching(
    options: BulkOptions,
    act: (row: DeliveryRow, bulk: Pick<Bulk, 'to' | 'batch'>) => boolean,
  ): BulkResult {
    const { storage, engine, clock } = this.#parts
    const bulk = readBulk(options, clock.now(), () => this.#newestSeq())
    const { filter, dryRun, limit, place, to, batch } = bulk
    if (to !== undefined) this.#parts.endpoints.requireTarget('to', to)
    const matched = storage.query.count(filter)
    if (dryRun) return { matched, done: 0, next: matched === 0 ? null : formatPlace(place), batch }
    const page = storage.query.page(filter, { limit: limit + 1, oldestFirst: true, after: place.after })
    const rows = page.filter(({ seq }) => seq <= place.upTo)
    const acted = rows.slice(0, limit)
    const done = this.#write(() => acted.filter(row => act(row, bulk)).length)
    setImmediate(() => engine.startDue())
    const last = acted.at(-1)
    const hasMore = rows.length > acted.length && last !== undefined
    return { matched, done, next: hasMore ? formatPlace({ ...place, after: last.seq }) : null, batch }
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

/** Next attempts that are planned. */
const MAX_PLANNED = 20
/** Groups that a call returns. */
const MAX_GROUPS = 100
/** Parts of the time in a group's spark. */
const SPARK_PARTS = 24
/** Longest text of a field. */
const MAX_FIELD = 200

/** Returns a member of a JSON object by its path: a string's characters, or another value's text. */
function fieldOf(text: string, path: readonly string[]): string | null {
  let value: string | undefined = text.trim()
  for (const name of path) value = value?.startsWith('{') === true ? memberOf(value, name) : undefined
  if (value === undefined) return null
  return (value.startsWith('"') ? String(JSON.parse(value)) : value).slice(0, MAX_FIELD)
}

/** A checked call about many deliveries. */
interface Bulk {
  readonly filter: DeliveryFilter
  readonly dryRun: boolean
  readonly limit: number
  readonly place: BulkPlace
  /** Address for replays, instead of the endpoint's. */
  readonly to: string | undefined
  /** Name of the change, the same for all calls that continue it. */
  readonly batch: string
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
  const fields = readAll(BULK, options, 'options')
  const { filter = {}, dryRun = false, limit = MAX_BULK, after: cursor, to } = fields
  const place = cursor === undefined ? { after: 0, upTo: newest(), endedBy: now } : parsePlace(cursor)
  return {
    // Ages in the filter are relative to when the change began, too.
    filter: {
      ...{ state: 'undelivered', endedBy: place.endedBy },
      ...readSelection(SELECTION, filter, 'filter', place.endedBy),
    },
    dryRun,
    limit,
    place,
    to,
    batch: `${place.upTo}.${place.endedBy}`,
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
