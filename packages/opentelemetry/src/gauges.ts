import type { InboxStats } from '@ackhook/core'
import { type InspectedReceiver, inspectReceiver, type ReceiverState, withDeadline } from '@ackhook/core/spi'
import type {
  Attributes,
  BatchObservableCallback,
  BatchObservableResult,
  Meter,
  ObservableGauge,
} from '@opentelemetry/api'
import { ATTRIBUTE } from './attributes.ts'
import { forgetSeries } from './forget-series.ts'

/** Any receiver. */
export interface WatchedReceiver {
  stats(): Promise<InboxStats>
}

/** Time to reply, shorter than the ten seconds that Prometheus waits for a scrape. */
const DEADLINE_MS = 3000

/** Gauges of an inbox's depth, and how each is read. `undefined`: the inbox does not tell. */
const DEPTHS = [
  {
    name: 'ackhook.pending',
    unit: '{message}',
    description: 'Events that wait for their first or next attempt.',
    read: ({ pending }: InboxStats) => pending,
  },
  {
    name: 'ackhook.untried',
    unit: '{message}',
    description: 'Events that wait for a slot, or for another event of their key.',
    read: ({ pending, retrying }: InboxStats) =>
      retrying === undefined ? undefined : Math.max(0, pending - retrying),
  },
  {
    name: 'ackhook.retrying',
    unit: '{message}',
    description: 'Events that were put back until a later time, mostly to be tried again.',
    read: ({ retrying }: InboxStats) => retrying,
  },
  {
    name: 'ackhook.active',
    unit: '{message}',
    description: 'Events whose handlers are running.',
    read: ({ active }: InboxStats) => active,
  },
  {
    name: 'ackhook.dead',
    unit: '{message}',
    description: 'Dead letters.',
    read: ({ dead }: InboxStats) => dead,
  },
  {
    name: 'ackhook.oldest_pending',
    unit: 's',
    description: 'Age of the oldest event that is not handled yet, retries included.',
    read: ({ oldestPendingMs }: InboxStats) => oldestPendingMs / 1000,
  },
  {
    name: 'ackhook.oldest_untried',
    unit: 's',
    description: 'Age of the oldest event that could run and never has.',
    read: ({ oldestUntriedMs }: InboxStats) =>
      oldestUntriedMs === undefined ? undefined : oldestUntriedMs / 1000,
  },
  {
    name: 'ackhook.postgres.oldest_snapshot',
    unit: 's',
    description: 'How long the oldest snapshot has been held that keeps PostgreSQL from removing dead rows.',
    read: ({ oldestSnapshotMs }: InboxStats) =>
      oldestSnapshotMs === undefined ? undefined : oldestSnapshotMs / 1000,
  },
  {
    name: 'ackhook.postgres.dead_rows',
    unit: '{row}',
    description: "Dead rows of the queue's table, which each event reads past.",
    read: ({ deadRows }: InboxStats) => deadRows,
  },
] as const

const UP = {
  name: 'ackhook.inbox.up',
  // A collector would append `_ratio` to the name for a unit of 1.
  unit: '',
  description: '1 while the inbox responds, 0 while it is unreachable.',
}

const CAPACITY = {
  name: 'ackhook.capacity',
  unit: '{message}',
  description: 'Maximum number of pending and running events. Beyond it deliveries get 503.',
}

const PAUSED = {
  name: 'ackhook.paused',
  unit: 's',
  description:
    'How long the oldest pause of the handling of all types, or of one, has lasted; 0 without one.',
}

const ROUND_AGE = {
  name: 'ackhook.round_age',
  unit: 's',
  description: 'Time since each kind of recurring work last completed.',
}

const SILENT = {
  name: 'ackhook.silent',
  unit: '',
  description: '1 while no genuine delivery has come for longer than `expectEvery` allows, otherwise 0.',
}

/** Reads a receiver's stats whenever metrics are collected. Returns a function that stops it. */
export function reportGauges(meter: Meter, receiver: WatchedReceiver, attributes: Attributes): () => void {
  const gaugeOf = ({ name, unit, description }: typeof UP): ObservableGauge =>
    meter.createObservableGauge(name, { unit, description })
  const up = gaugeOf(UP)
  const capacity = gaugeOf(CAPACITY)
  const silent = gaugeOf(SILENT)
  const paused = gaugeOf(PAUSED)
  const roundAge = gaugeOf(ROUND_AGE)
  const depths = DEPTHS.map(depth => ({ gauge: gaugeOf(depth), read: depth.read }))
  const all = [up, capacity, silent, paused, roundAge, ...depths.map(({ gauge }) => gauge)]
  const inspected = inspect(receiver)
  const pausedFor = createPausedFor(inspected.inbox)
  const reported = new Set<ObservableGauge>()
  const rounds = new RoundAges(roundAge, inspected.rounds, attributes)
  const report: BatchObservableCallback = async result => {
    const stats = inspected.state() === 'closed' ? undefined : await readStats(receiver)
    const state = inspected.state()
    const observe = (gauge: ObservableGauge, value: number | undefined): void => {
      if (value !== undefined) {
        reported.add(gauge)
        result.observe(gauge, value, attributes)
      } else if (reported.delete(gauge)) forgetSeries([gauge], attributes)
    }
    observe(up, upOf(stats, state))
    observe(capacity, state === 'closed' ? undefined : inspected.capacity)
    const silence = state === 'closed' ? undefined : inspected.silence?.()
    observe(silent, silence && (silence.isSilent ? 1 : 0))
    if (state === 'closed') rounds.forget()
    else rounds.observe(result)
    observe(paused, stats && (await pausedFor(stats)))
    for (const { gauge, read } of depths) observe(gauge, stats && read(stats))
  }
  meter.addBatchObservableCallback(report, all)
  return () => {
    meter.removeBatchObservableCallback(report, all)
    forgetSeries(all, attributes)
    rounds.forget()
  }
}

/** A series for each kind of recurring work of a receiver, for as long as the work goes on. */
class RoundAges {
  readonly #gauge: ObservableGauge
  readonly #board: InspectedReceiver['rounds'] | undefined
  readonly #attributes: Attributes
  /** Attributes by kind. The SDK knows a series by the object that it was given. */
  readonly #reported = new Map<string, Attributes>()

  constructor(
    gauge: ObservableGauge,
    board: InspectedReceiver['rounds'] | undefined,
    attributes: Attributes,
  ) {
    this.#gauge = gauge
    this.#board = board
    this.#attributes = attributes
  }

  observe(result: BatchObservableResult): void {
    const ages = this.#board?.read() ?? new Map<string, number>()
    for (const kind of this.#reported.keys()) if (!ages.has(kind)) this.#forget(kind)
    for (const [kind, ms] of ages) {
      const attributes = this.#reported.get(kind) ?? { ...this.#attributes, [ATTRIBUTE.round]: kind }
      this.#reported.set(kind, attributes)
      result.observe(this.#gauge, ms / 1000, attributes)
    }
  }

  forget(): void {
    for (const kind of this.#reported.keys()) this.#forget(kind)
  }

  #forget(kind: string): void {
    forgetSeries([this.#gauge], this.#reported.get(kind) ?? {})
    this.#reported.delete(kind)
  }
}

/**
 * Only an inbox that has started, or has failed to start, can be down: others may refuse a query because they are not
 * open yet, or not any more.
 */
function upOf(stats: InboxStats | undefined, state: ReceiverState): 0 | 1 | undefined {
  if (state === 'closed') return undefined
  if (stats !== undefined) return 1
  return state === 'started' || state === 'failed' ? 0 : undefined
}

function inspect(
  receiver: WatchedReceiver,
): Pick<InspectedReceiver, 'state'> &
  Partial<Pick<InspectedReceiver, 'capacity' | 'silence' | 'inbox' | 'rounds'>> {
  try {
    return inspectReceiver(receiver)
  } catch {
    // An object that passes a receiver's stats on. Its state is unknown.
    return { state: () => 'started' }
  }
}

/**
 * Tells for how many seconds handling has been paused. The inbox knows since when, across restarts; of a pause by the
 * engine's own means it may not, and then the time counts from when this process saw it.
 */
function createPausedFor(
  inbox: InspectedReceiver['inbox'] | undefined,
): (stats: InboxStats) => Promise<number> {
  let seenAt: number | undefined
  const pauses = async () => (await inbox?.handling?.paused()) ?? []
  return async ({ paused, pausedTypes }) => {
    if (paused !== true && pausedTypes === undefined) {
      seenAt = undefined
      return 0
    }
    seenAt ??= Date.now()
    const known = await withDeadline(pauses(), { operation: 'paused', ms: DEADLINE_MS }).catch(() => [])
    const since = Math.min(seenAt, ...known.map(pause => pause.since))
    return (Date.now() - since) / 1000
  }
}

/** Resolves to `undefined` if the inbox does not reply. */
async function readStats(receiver: WatchedReceiver): Promise<InboxStats | undefined> {
  try {
    return await withDeadline(receiver.stats(), { operation: 'stats', ms: DEADLINE_MS })
  } catch {
    return undefined
  }
}
