import type { Batch, BatchWork, Step } from '../batches/batches.ts'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { newId } from '../lib/ids.ts'
import { readAll } from '../lib/read-fields.ts'
import { toInstant } from '../lib/time.ts'
import { BATCH, type BatchOptions, type EventToSend } from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'
import type { DeliveryOperations } from './delivery-operations.ts'
import type { BatchView, EmulatorApi } from './emulator-api.ts'
import type { EventsOperations } from './events-operations.ts'
import type { Parts } from './parts.ts'

/** Deliveries per step, few enough for visible progress and a quick stop. */
const PER_STEP = 250

/** Replays, discards and sends of many that run in this process, whether or not anybody watches. */
export class BatchOperations implements Pick<EmulatorApi, 'batches'> {
  readonly #parts: Parts
  readonly #deliveries: DeliveryOperations['deliveries']
  readonly #events: EventsOperations

  constructor(parts: Parts, deliveries: DeliveryOperations['deliveries'], events: EventsOperations) {
    this.#parts = parts
    this.#deliveries = deliveries
    this.#events = events
  }

  readonly batches: EmulatorApi['batches'] = {
    list: async () => this.#parts.batches.list().map(one => this.#view(one)),
    start: async options => this.#view(this.#parts.batches.start(await this.#workOf(options))),
    get: async id => this.#view(this.#require(id)),
    stop: async id => {
      this.#require(id)
      this.#parts.batches.stop(id)
      return this.#view(this.#require(id))
    },
  }

  async #workOf(options: BatchOptions): Promise<BatchWork> {
    const { action, event, count, perSecond, workspace, ...selection } = readAll(BATCH, options, 'options')
    if (action === undefined) throw invalid('action', 'is missing: replay, discard or send')
    if (action !== 'send') {
      if (event !== undefined) throw invalid('event', 'is only for a batch that sends')
      return this.#changeOf(action, selection)
    }
    if (event === undefined) throw invalid('event', 'is missing')
    if (Object.keys(selection).length > 0)
      throw invalid(Object.keys(selection)[0] ?? '', 'is not for a batch that sends')
    return this.#sendOf(event as EventToSend, { count, perSecond, workspace })
  }

  /** Replays or discards what matches now, or what a dry run has counted. */
  async #changeOf(
    action: 'replay' | 'discard',
    selection: Pick<BatchOptions, 'filter' | 'to' | 'after'>,
  ): Promise<BatchWork> {
    const change = action === 'replay' ? this.#deliveries.replayMatching : this.#deliveries.discardMatching
    const found = await change({ ...selection, dryRun: true })
    let next = found.next
    const step = async (): Promise<Step> => {
      if (next === null) return { done: 0, isLast: true }
      const result = await change({ ...selection, limit: PER_STEP, after: next })
      next = result.next
      return { done: result.done, isLast: next === null }
    }
    const about = aboutOf(selection.filter)
    return { action, about, total: found.matched, batch: found.batch, step, pauseMs: () => 0 }
  }

  #sendOf(
    event: EventToSend,
    { count = 1, perSecond = 1000, workspace }: Pick<BatchOptions, 'count' | 'perSecond' | 'workspace'>,
  ): BatchWork {
    const batch = newId('snd_')
    const perStep = Math.min(LIMITS.eventsPerCall, Math.max(1, Math.floor(perSecond / STEPS_PER_SECOND)))
    const options = workspace === undefined ? {} : { workspace }
    let left = count
    const send = (of: number) =>
      this.#events.sendInBatch(
        Array.from({ length: of }, () => event),
        options,
        batch,
      )
    const step = async (): Promise<Step> => {
      const now = Math.min(perStep, left)
      send(now)
      left -= now
      return { done: now, isLast: left === 0 }
    }
    const about = 'type' in event ? event.type : 'an exact body'
    const pauseMs = (done: number) => (done / perSecond) * 1000
    return { action: 'send', about, total: count, batch, step, pauseMs }
  }

  #require(id: string): Batch {
    const found = this.#parts.batches.find(id)
    if (found === undefined) throw new EmulatorError('not_found', `there is no batch ${id}`)
    return found
  }

  #view(one: Batch): BatchView {
    const { query } = this.#parts.storage
    const results = one.batch === null ? [] : query.resultsOf(one.batch)
    const settled = results.filter(({ waits }) => waits === 0)
    const sum = (rows: readonly { readonly count: number }[]) =>
      rows.reduce((total, { count }) => total + count, 0)
    const acknowledged = settled.filter(({ state }) => state === 'acknowledged')
    return {
      ...one,
      startedAt: toInstant(one.startedAt),
      endedAt: one.endedAt === null ? null : toInstant(one.endedAt),
      acknowledged: sum(acknowledged),
      waiting: sum(results) - sum(settled),
      failures: settled
        .filter(({ state }) => state !== 'acknowledged')
        .map(({ reply, count }) => ({ reply, count })),
    }
  }
}

/** Steps of a send that takes long enough for them. */
const STEPS_PER_SECOND = 4

/** Writes a filter for people. */
function aboutOf(filter: BatchOptions['filter'] = {}): string {
  const words = Object.entries(filter).filter(([, value]) => value !== undefined)
  return words.map(([name, value]) => `${name}=${value}`).join(' ')
}
