import type { Duration } from '@ackhook/core'
import { DEFAULT_WORKSPACE } from '../endpoints/endpoints.ts'
import { invalid } from '../errors/emulator-error.ts'
import { CATEGORIES } from '../events/event-input.ts'
import { asRequest, readAll } from '../lib/read-fields.ts'
import { toInstant } from '../lib/time.ts'
import { settingValues } from '../options/emulator-options.ts'
import {
  CLOCK,
  type DeliveryState,
  RESET,
  STATES,
  STATS,
  type StatsOptions,
  WAIT,
  type WaitOptions,
} from '../shapes/requests.ts'
import { LIMITS, settingsOf } from '../shapes/settings.ts'
import { toDeliveryView } from './delivery-view.ts'
import type { EmulatorApi, EmulatorHealth, SettingsView, StatsView, WaitResult } from './emulator-api.ts'
import type { Parts } from './parts.ts'
import { readSelection } from './read-selection.ts'

const HOUR_MS = 3_600_000
/** Share of the limit on open deliveries at which a warning appears. */
const ALMOST_FULL = 0.9

type Control = Pick<EmulatorApi, 'clock' | 'faults' | 'health' | 'settings' | 'stats' | 'wait' | 'reset'>

/** Operations on the emulator as a whole, not on one delivery, endpoint or message. */
export class ControlOperations implements Control {
  readonly #parts: Parts
  /** Serializes advances of the clock. */
  #advancing: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly clock: EmulatorApi['clock'] = {
    now: async () => toInstant(this.#parts.clock.now()),
    advance: by => {
      const run = this.#advancing.then(() => this.#advance(by))
      this.#advancing = run.catch(() => {})
      return run
    },
  }

  readonly faults: EmulatorApi['faults'] = {
    get: async () => this.#parts.faults.options,
    set: async faults => {
      asRequest(() => this.#parts.faults.set(faults))
      const { options } = this.#parts.faults
      this.#parts.feed.publish('faults', options)
      return options
    },
  }

  async health(): Promise<EmulatorHealth> {
    const { counts, endpoints, clock, version } = this.#parts
    const states = endpoints.workspaces().flatMap(({ id }) => {
      const row = endpoints.find(id)
      return row === undefined ? [] : [{ workspace: id, paused: row.paused === 1, ...endpoints.healthOf(id) }]
    })
    return {
      status: 'ready',
      version,
      now: toInstant(clock.now()),
      counts: Object.fromEntries(STATES.map(state => [state, counts.of(state)])) as Record<
        DeliveryState,
        number
      >,
      warnings: [...this.#unheard(), ...states.flatMap(warningOf), ...this.#almostFull()],
      endpoints: states,
    }
  }

  /** Warns of workspaces without an endpoint whose events were skipped. */
  #unheard(): readonly string[] {
    const { endpoints, storage } = this.#parts
    return endpoints
      .workspaces()
      .filter(({ id }) => endpoints.find(id) === undefined)
      .filter(({ id }) => storage.query.exists({ workspace: id, state: 'skipped' }))
      .map(({ id }) => `${id}: events were skipped, because the workspace has no endpoint`)
  }

  #almostFull(): readonly string[] {
    const { counts, options } = this.#parts
    const most = options.retention.undelivered
    if (counts.open < most * ALMOST_FULL) return []
    return [`${counts.open} events are pending or undelivered; at ${most}, new ones are refused`]
  }

  async settings(): Promise<SettingsView> {
    const { options, seed } = this.#parts
    return { settings: settingsOf(settingValues(options, seed)), categories: CATEGORIES }
  }

  async stats(options: StatsOptions = {}): Promise<StatsView> {
    const now = this.#parts.clock.now()
    const { buckets = 60, ...asked } = readSelection(STATS, options, 'options', now)
    const to = asked.to ?? now + 1
    const from = asked.from ?? to - HOUR_MS
    if (from >= to) throw invalid('from', 'must be before to')
    const widthMs = (to - from) / buckets
    const counts = Array.from({ length: buckets }, (): Partial<Record<DeliveryState, number>> => ({}))
    for (const { bucket, state, count } of this.#parts.storage.query.histogram(
      { ...asked, from, to },
      from,
      widthMs,
    )) {
      const slot = counts[bucket]
      if (slot !== undefined) slot[state] = count
    }
    return {
      from: toInstant(from),
      to: toInstant(to),
      widthMs,
      buckets: counts.map((each, index) => ({ from: toInstant(from + index * widthMs), counts: each })),
    }
  }

  async wait(options: WaitOptions = {}, signal?: AbortSignal): Promise<WaitResult> {
    const { clock, storage, waiters, counts } = this.#parts
    const fields = readSelection(WAIT, options, 'options', clock.now())
    const { count, idle, timeout = 10_000, ...filter } = fields
    const isIdle = idle ?? (count === undefined && Object.keys(filter).length === 0)
    const isMet = isIdle
      ? () => counts.of('pending') === 0 || !storage.query.exists({ ...filter, state: 'pending' })
      : () => storage.query.countEvents(filter) >= (count ?? 1)
    const met = await waiters.wait(isMet, timeout, signal)
    return {
      met,
      count: storage.query.countEvents(filter),
      deliveries: storage.query.page(filter, { limit: LIMITS.page, oldestFirst: true }).map(toDeliveryView),
    }
  }

  async reset(options: { readonly everything?: boolean | undefined } = {}): Promise<void> {
    const { everything = false } = readAll(RESET, options, 'options')
    const { storage, clock, counts, faults, endpoints, intake, engine, feed, waiters, batches } = this.#parts
    batches.clear()
    await engine.whileStopped(() => {
      storage.clearLog()
      storage.setMeta('offset', '0')
      clock.reset()
      counts.replace(new Map())
      faults.reset()
      intake.reset()
      endpoints.reset(everything)
      if (everything) this.#restoreEndpoint()
    })
    feed.publish('reset', {})
    waiters.changed()
  }

  /** Restores the default endpoint from the options. */
  #restoreEndpoint(): void {
    const { to, secret } = this.#parts.options
    if (to === undefined) return
    this.#parts.endpoints.put(DEFAULT_WORKSPACE, { url: to, ...(secret !== undefined && { secret }) })
  }

  /** Advances from one due attempt to the next, so that each sees its own start time. */
  async #advance(by: Duration): Promise<string> {
    const { clock, engine, storage, feed } = this.#parts
    const target = clock.now() + (readAll(CLOCK, { by }).by ?? 0)
    await engine.settle()
    for (let next = engine.nextDue(); next !== undefined && next <= target; next = engine.nextDue()) {
      clock.moveTo(next)
      await engine.settle()
    }
    clock.moveTo(target)
    storage.setMeta('offset', String(clock.offsetMs))
    await engine.settle()
    const now = toInstant(clock.now())
    feed.publish('clock', { now })
    return now
  }
}

/** Warns even if there are too few attempts for a health warning. */
function warningOf({
  workspace,
  reason,
  attempts,
  failures,
}: EmulatorHealth['endpoints'][number]): readonly string[] {
  if (reason !== null) return [`${workspace}: ${reason}`]
  if (attempts === 0 || failures < attempts) return []
  if (attempts === 1) return [`${workspace}: the last attempt was not acknowledged`]
  return [`${workspace}: none of the last ${attempts} attempts was acknowledged`]
}
