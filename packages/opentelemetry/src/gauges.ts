import type { InboxStats } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Attributes, BatchObservableCallback, Meter, ObservableGauge } from '@opentelemetry/api'

/** Any receiver. */
export interface WatchedReceiver {
  stats(): Promise<InboxStats>
}

/** Time to reply, shorter than the ten seconds that Prometheus waits for a scrape. */
const DEADLINE_MS = 3000

/** Gauges of an inbox's depth, and how each is read. */
const DEPTHS = [
  {
    name: 'ackhook.pending',
    unit: '{message}',
    description: 'Events that wait for their first or next attempt.',
    read: ({ pending }: InboxStats) => pending,
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
    description: 'Age of the oldest event that is not handled yet.',
    read: ({ oldestPendingMs }: InboxStats) => oldestPendingMs / 1000,
  },
] as const

const UP = {
  name: 'ackhook.inbox.up',
  // A collector would append `_ratio` to the name for a unit of 1.
  unit: '',
  description: '1 while the inbox responds, 0 while it is unreachable.',
}

/** Reads a receiver's stats whenever metrics are collected. Returns a function that stops it. */
export function reportGauges(meter: Meter, receiver: WatchedReceiver, attributes: Attributes): () => void {
  const gaugeOf = ({ name, unit, description }: typeof UP): ObservableGauge =>
    meter.createObservableGauge(name, { unit, description })
  const up = gaugeOf(UP)
  const depths = DEPTHS.map(depth => ({ gauge: gaugeOf(depth), read: depth.read }))
  let wasReported = false
  const report: BatchObservableCallback = async result => {
    const stats = await readStats(receiver)
    result.observe(up, stats === undefined ? 0 : 1, attributes)
    // The SDK repeats the last value of a gauge that is not observed, so only NaN replaces it.
    if (stats === undefined && !wasReported) return
    wasReported = true
    for (const { gauge, read } of depths) {
      result.observe(gauge, stats === undefined ? Number.NaN : read(stats), attributes)
    }
  }
  const all = [up, ...depths.map(({ gauge }) => gauge)]
  meter.addBatchObservableCallback(report, all)
  return () => meter.removeBatchObservableCallback(report, all)
}

/** Resolves to `undefined` if the inbox does not reply. */
async function readStats(receiver: WatchedReceiver): Promise<InboxStats | undefined> {
  try {
    return await withDeadline(receiver.stats(), { operation: 'stats', ms: DEADLINE_MS })
  } catch {
    return undefined
  }
}
