import {
  ACKNOWLEDGED,
  drops,
  FAILED,
  HANDLED,
  incidents,
  QUICKLY_ACKNOWLEDGED,
  refusals,
  type Values,
  VERIFIED,
} from './processes.ts'

/** One fault: what two processes export while it lasts, and which alerts fire when. */
export interface Fault {
  readonly name: string
  /** Genuine deliveries a minute before it. */
  readonly perMinute: number
  /** Growth of counters in a minute, of both processes together, where it differs from before. */
  readonly counters?: Values<number>
  /** Growth of counters in the moment in which the fault happens, in one process. */
  readonly once?: Values<number>
  /** Total of counters since the fault, of both processes together, that do not exist before they grow. */
  readonly totals?: Values<(seconds: number) => number>
  /** Gauges of both processes, by the seconds since the fault. `undefined`: not exported. */
  readonly gauges?: Values<(seconds: number) => number | undefined>
  /** `gone`: Prometheus does not find the processes. `hang`: its scrapes fail. */
  readonly processes?: 'gone' | 'hang'
  /** Every alert that fires within 14 minutes, and after how many seconds. */
  readonly fires: Values<number>
  /** Greatest time until the first alert, in seconds; absent if none is promised. */
  readonly withinS?: number
}

const TWO_MINUTES = 120
const A_QUARTER_HOUR = 900
/** Genuine deliveries a minute at a busy and at a quiet receiver. */
const BUSY = 300
const QUIET = 5

const NOTHING_ACCEPTED = { [VERIFIED]: 0, [ACKNOWLEDGED]: 0, [QUICKLY_ACKNOWLEDGED]: 0 }
const REFUSED_AFTER_THE_SIGNATURE = { [ACKNOWLEDGED]: 0, [QUICKLY_ACKNOWLEDGED]: 0 }
const unknown = () => undefined
const NO_DEPTH = {
  ackhook_pending: unknown,
  ackhook_active: unknown,
  ackhook_dead: unknown,
  ackhook_oldest_pending: unknown,
  ackhook_oldest_untried: unknown,
  ackhook_postgres_oldest_snapshot: unknown,
  ackhook_postgres_dead_rows: unknown,
}

/** Attempts of events that all fail, at a constant rate, with the retries of the memory inbox. */
function failures(perMinute: number): (seconds: number) => number {
  const after = [0, 0.75, 3.75, 15.75, 63.75]
  return seconds =>
    Math.floor(after.reduce((sum, delay) => sum + (Math.max(0, seconds - delay) * perMinute) / 60, 0))
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'every handler fails, at five deliveries a second',
    perMinute: BUSY,
    counters: { [HANDLED]: 0 },
    totals: { [FAILED]: failures(BUSY) },
    fires: { AckhookHandlersFail: 75 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'every handler fails, at five deliveries a minute',
    perMinute: QUIET,
    counters: { [HANDLED]: 0 },
    totals: { [FAILED]: failures(QUIET) },
    fires: { AckhookHandlersFail: 75 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'three attempts in ten fail',
    perMinute: BUSY,
    counters: { [HANDLED]: 0.7 * BUSY },
    totals: { [FAILED]: seconds => Math.floor((0.3 * BUSY * seconds) / 60) },
    fires: {},
  },
  {
    name: 'memory has lost acknowledged events',
    perMinute: QUIET,
    once: { [drops('shutdown')]: 3 },
    fires: { AckhookEventsDropped: 15 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'a pause is forgotten, ten minutes ago',
    perMinute: QUIET,
    gauges: { ackhook_paused: seconds => 600 + seconds, ackhook_pending: seconds => 50 + seconds / 12 },
    fires: { AckhookPaused: 315 },
    withinS: A_QUARTER_HOUR,
  },
  {
    name: 'the server of the inbox is down',
    perMinute: BUSY,
    counters: {
      ...REFUSED_AFTER_THE_SIGNATURE,
      [refusals('inbox_unavailable')]: BUSY,
      [incidents('store_down')]: BUSY,
    },
    gauges: { ...NO_DEPTH, ackhook_inbox_up: () => 0 },
    fires: { AckhookDeliveriesRefusedForOurFault: 105, AckhookInboxDown: 75, AckhookStoreFailing: 105 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the queue is full',
    perMinute: BUSY,
    counters: { ...REFUSED_AFTER_THE_SIGNATURE, [refusals('capacity_exceeded')]: BUSY },
    gauges: { ackhook_pending: () => 9999, ackhook_oldest_untried: seconds => seconds + 30 },
    fires: { AckhookBacklog: 75, AckhookDeliveriesRefusedForOurFault: 105, AckhookQueueFilling: 45 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the workers are stuck',
    perMinute: BUSY,
    counters: { [HANDLED]: 0 },
    gauges: {
      ackhook_pending: seconds => (seconds * BUSY) / 60,
      ackhook_oldest_pending: seconds => seconds,
      ackhook_oldest_untried: seconds => seconds,
    },
    fires: { AckhookBacklog: 105 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'an event is dead-lettered',
    perMinute: QUIET,
    gauges: { ackhook_dead: () => 1 },
    fires: { AckhookDeadLetters: 15 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'acknowledgements take longer than the sender waits',
    perMinute: BUSY,
    counters: { [QUICKLY_ACKNOWLEDGED]: 0 },
    fires: { AckhookAcknowledgementSlow: 105 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the clock is wrong',
    perMinute: QUIET,
    counters: { ...REFUSED_AFTER_THE_SIGNATURE, [refusals('timestamp_too_old')]: QUIET },
    fires: { AckhookTimestampsRefused: 60 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the store is slow',
    perMinute: BUSY,
    counters: { [incidents('store_slow')]: BUSY },
    fires: { AckhookStoreFailing: 105 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the end of an event could not be recorded',
    perMinute: QUIET,
    once: { [incidents('completion_lost')]: 1 },
    fires: { AckhookCompletionLost: 15 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'a lease is lost',
    perMinute: QUIET,
    once: { [incidents('lease_lost')]: 1 },
    fires: { AckhookLeaseLost: 15 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'Redis has lost its data',
    perMinute: QUIET,
    once: { [incidents('redis_emptied')]: 1 },
    fires: { AckhookNotice: 15 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'Redis may evict events',
    perMinute: QUIET,
    once: { [incidents('redis_evicts')]: 1 },
    fires: { AckhookNotice: 15 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'a report holds a transaction open on the PostgreSQL of the inbox',
    perMinute: BUSY,
    once: { [incidents('postgres_snapshot_held')]: 1 },
    gauges: {
      ackhook_postgres_oldest_snapshot: seconds => seconds,
      ackhook_postgres_dead_rows: seconds => 9000 + 100 * seconds,
    },
    fires: { AckhookSnapshotHeld: 135 },
    withinS: A_QUARTER_HOUR,
  },
  {
    name: 'the sender has changed the shape of its events (422)',
    perMinute: QUIET,
    counters: { ...REFUSED_AFTER_THE_SIGNATURE, [refusals('event_invalid')]: QUIET },
    fires: { AckhookGenuineDeliveriesRefused: 30 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'events have outgrown the limit on bodies (413)',
    perMinute: QUIET,
    counters: { ...NOTHING_ACCEPTED, [refusals('body_too_large')]: QUIET },
    fires: { AckhookBodiesTooLarge: 60 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the secret is wrong, at five deliveries a second',
    perMinute: BUSY,
    counters: { ...NOTHING_ACCEPTED, [refusals('signature_mismatch')]: BUSY },
    fires: { AckhookNothingVerifies: 60 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'all processes are gone',
    perMinute: BUSY,
    processes: 'gone',
    fires: { AckhookGone: 75 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'all processes hang',
    perMinute: BUSY,
    processes: 'hang',
    fires: { AckhookGone: 75, AckhookProcessHangs: 75 },
    withinS: TWO_MINUTES,
  },
  {
    name: 'the secret is wrong, at five deliveries a minute',
    perMinute: QUIET,
    counters: { ...NOTHING_ACCEPTED, [refusals('signature_mismatch')]: QUIET },
    fires: { AckhookNothingVerifies: 600 },
    withinS: A_QUARTER_HOUR,
  },
  {
    name: 'a proxy strips the signature, at five deliveries a minute',
    perMinute: QUIET,
    counters: { ...NOTHING_ACCEPTED, [refusals('signature_missing')]: QUIET },
    fires: { AckhookNothingVerifies: 600 },
    withinS: A_QUARTER_HOUR,
  },
  {
    // Only who knows how often the sender should send can say that it is silent: the gauge shows it.
    name: 'the platform sends nothing',
    perMinute: QUIET,
    counters: NOTHING_ACCEPTED,
    gauges: { ackhook_last_delivery_age: seconds => seconds },
    fires: {},
  },
  {
    name: 'the platform sends nothing for longer than `expectEvery`',
    perMinute: QUIET,
    counters: NOTHING_ACCEPTED,
    gauges: { ackhook_last_delivery_age: seconds => seconds, ackhook_silent: () => 1 },
    fires: { AckhookSilent: 15 },
    withinS: TWO_MINUTES,
  },
]
