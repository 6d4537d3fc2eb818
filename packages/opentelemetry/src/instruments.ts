import type { Counter, Histogram, Meter, ObservableCounter, ObservableGauge } from '@opentelemetry/api'

/** Every metric. Names under `messaging.` are those of the OpenTelemetry conventions. */
export interface Instruments {
  readonly acknowledgement: Histogram
  /** Observed when metrics are collected: an SDK sorts and writes the attributes of each single measurement. */
  readonly consumed: ObservableCounter
  readonly verified: ObservableCounter
  readonly lastDelivery: ObservableGauge
  readonly handling: Histogram
  readonly lag: Histogram
  readonly duplicates: Counter
  readonly rejections: Counter
  readonly deadLettered: Counter
  readonly redriven: Counter
  readonly discarded: Counter
  readonly dropped: Counter
  readonly incidents: Counter
  readonly secrets: Counter
  readonly ingested: Counter
}

const DURATION_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const LAG_S = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]

export function createInstruments(meter: Meter): Instruments {
  const seconds = (name: string, description: string, boundaries: number[]): Histogram =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: boundaries },
    })
  const count = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description })
  return {
    acknowledgement: seconds(
      'ackhook.acknowledgement.duration',
      "Time from a request's arrival to its reply.",
      DURATION_S,
    ),
    consumed: meter.createObservableCounter('messaging.client.consumed.messages', {
      unit: '{message}',
      description: 'Events accepted.',
    }),
    verified: meter.createObservableCounter('ackhook.verified', {
      unit: '{request}',
      description: 'Deliveries whose signature matched, even if they were refused for another reason.',
    }),
    lastDelivery: meter.createObservableGauge('ackhook.last_delivery_age', {
      unit: 's',
      description: 'Time since the last delivery that was genuine and recent.',
    }),
    handling: seconds('messaging.process.duration', 'Duration of one attempt.', DURATION_S),
    lag: seconds('ackhook.lag', "Time from an event's created_at to the end of its handlers.", LAG_S),
    duplicates: count('ackhook.duplicates', '{message}', 'Deliveries of events that were accepted before.'),
    rejections: count('ackhook.rejections', '{request}', 'Requests refused, by reason.'),
    deadLettered: count('ackhook.dead_lettered', '{message}', 'Events dead-lettered.'),
    redriven: count('ackhook.redriven', '{message}', 'Dead letters redriven on a dashboard, or by code.'),
    discarded: count('ackhook.discarded', '{message}', 'Dead letters discarded on a dashboard, or by code.'),
    dropped: count(
      'ackhook.dropped',
      '{message}',
      'Acknowledged events deleted without having been handled, by cause.',
    ),
    incidents: count(
      'ackhook.incidents',
      '{incident}',
      'Lost leases, lost completions, store failures, notices.',
    ),
    ingested: count('ackhook.ingested', '{message}', 'Events offered by `ingest`, by source and result.'),
    secrets: count(
      'ackhook.secret_matches',
      '{request}',
      'Deliveries verified by each of several secrets, by its place in the list.',
    ),
  }
}
