import { drops, incidents } from './processes.ts'
import { type Happenings, RETRIES } from './world.ts'

/** What happens, and which alerts fire: since when at the latest, and for how long after the last sample of the fault. */
export interface Situation {
  readonly name: string
  readonly happens: Happenings
  /**
   * Alerts with what they are about, and the seconds within which each fires. `null`: whenever. Absent: none fires at all.
   */
  readonly fires?: Readonly<Record<string, readonly [earliest: number, latest: number]>>
  /** Seconds at which all of these fire still, because nobody has done anything. */
  readonly stillAt?: number
  /** Seconds after which none fires any more. */
  readonly overAt?: number
}

const MINUTE = 60
const HOUR = 3600
/** When each fault begins, after half an hour in good health. */
const T = 1800
const FRAME = 60
const always = () => true
const since =
  (from: number, to = Number.POSITIVE_INFINITY) =>
  ({ seconds }: { seconds: number }) =>
    from <= seconds && seconds < to
const during =
  <V, W>(from: number, to: number, value: V, otherwise: W) =>
  (seconds: number): V | W =>
    from <= seconds && seconds < to ? value : otherwise
const atRate = (perMinute: number) => () => perMinute
const MANY_TYPES = Array.from({ length: 30 }, (_, at) => `rare.type${at}`)
const CONVERSATION = 'conversation.resolved'

/** Situations that were looked at while the rules were written. */
export const SEEN: readonly Situation[] = [
  {
    name: 'every handler fails at five events a second',
    happens: { minutes: FRAME, rate: atRate(300), fails: since(T) },
    fires: { [`AckhookHandlersFail ${CONVERSATION}`]: [T + 45, T + 118] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'every handler fails at five events a minute, with the retries of SQLite',
    happens: { minutes: FRAME, rate: atRate(5), fails: since(T), retries: RETRIES.sqlite },
    fires: { [`AckhookHandlersFail ${CONVERSATION}`]: [T + 45, T + 180] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'the database of all handlers is away, and each of thirty types is rare',
    happens: {
      ...{ minutes: FRAME, rate: atRate(6), types: MANY_TYPES },
      ...{ fails: since(T), retries: RETRIES.bullmq },
    },
    fires: { 'AckhookHandlersFail all types together': [T + 30, T + 180] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'a pause is forgotten',
    happens: {
      ...{ minutes: FRAME, rate: atRate(9) },
      gauges: seconds => ({
        ackhook_paused: Math.max(0, seconds - T),
        ackhook_pending: Math.max(0, seconds - T) / 7,
      }),
    },
    fires: { AckhookPaused: [T + 900, T + 930] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'a new receiver has a wrong secret',
    happens: { minutes: FRAME, rate: atRate(5), refusal: () => 'signature_mismatch' },
    fires: { AckhookNothingVerifies: [60, 300] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'memory has lost events at a shutdown',
    happens: { minutes: FRAME, rate: atRate(5), once: [{ seconds: T, counter: drops('shutdown') }] },
    fires: { 'AckhookEventsDropped shutdown': [T, T + 30] },
  },
  {
    name: 'the server of the inbox is away for three minutes',
    happens: {
      ...{ minutes: FRAME, rate: atRate(300) },
      refusal: during(T, T + 180, 'inbox_unavailable', undefined),
      gauges: during(T, T + 180, { ackhook_inbox_up: 0 }, {}),
    },
    fires: {
      AckhookInboxDown: [T + 60, T + 90],
      'AckhookDeliveriesRefusedForOurFault inbox_unavailable': [T + 60, T + 120],
      AckhookStoreFailing: [T + 60, T + 120],
    },
    overAt: T + 180 + 75,
  },
  {
    name: 'a job is gone, and others are not',
    happens: { minutes: FRAME, rate: atRate(5), processes: [{ to: T }] },
    fires: { AckhookGone: [T + 60, T + 90] },
  },
  {
    name: 'one customer in twenty fails',
    happens: { minutes: FRAME, rate: atRate(120), fails: ({ event }) => event % 20 === 0 },
  },
  {
    name: 'four attempts fail at a quiet type',
    happens: {
      ...{ minutes: FRAME, rate: during(T, T + 200, 1.2, 0) },
      ...{ fails: always, retries: [] },
    },
  },
  {
    name: 'twenty processes are replaced one after the other',
    happens: {
      ...{ minutes: FRAME, rate: atRate(60) },
      processes: Array.from({ length: 40 }, (_, at) =>
        at < 20 ? { to: T + at * 30 } : { from: T + (at - 20) * 30 },
      ),
    },
  },
  {
    name: 'Redis restarts within five seconds, at five events a second',
    happens: {
      ...{ minutes: FRAME, rate: atRate(300) },
      refusal: during(T + 4, T + 9, 'inbox_unavailable', undefined),
    },
  },
  {
    name: 'an outage of half a minute drops figures of the activity',
    happens: {
      ...{ minutes: FRAME, rate: atRate(5) },
      once: [{ seconds: T, counter: incidents('activity_dropped') }],
    },
  },
  {
    name: 'a scanner comes beside one genuine event a minute',
    happens: { minutes: FRAME, rate: atRate(1), scans: atRate(120) },
  },
]

/** Situations that were written before the rules were done, and looked at only then. */
export const UNSEEN: readonly Situation[] = [
  {
    name: 'every handler fails at twenty events a minute, with the retries of BullMQ',
    happens: { minutes: FRAME, rate: atRate(20), fails: since(T), retries: RETRIES.bullmq },
    fires: { [`AckhookHandlersFail ${CONVERSATION}`]: [T + 45, T + 120] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'every handler hangs until handlerTimeout',
    happens: { minutes: FRAME, rate: atRate(60), fails: since(T), failsAfterS: 60, retries: RETRIES.bullmq },
    fires: { [`AckhookHandlersFail ${CONVERSATION}`]: [T + 60, T + 285] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'one of four types fails',
    happens: {
      ...{ minutes: FRAME, rate: atRate(60), types: ['a.a', 'b.b', 'c.c', 'd.d'], retries: RETRIES.sqlite },
      fails: ({ seconds, type }) => type === 'b.b' && seconds >= T,
    },
    fires: { 'AckhookHandlersFail b.b': [T + 45, T + 150] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'a release breaks a handler, in new processes',
    happens: {
      ...{ minutes: FRAME, rate: atRate(20), fails: since(T + 60), retries: RETRIES.sqlite },
      processes: [{ to: T }, { to: T + 60 }, { from: T }, { from: T + 60 }],
    },
    fires: { [`AckhookHandlersFail ${CONVERSATION}`]: [T + 60, T + 210] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'one type is paused over a restart of all processes',
    happens: {
      ...{ minutes: FRAME, rate: atRate(9) },
      gauges: seconds => ({ ackhook_paused: Math.max(0, seconds - T) }),
      processes: [{ to: T + 300 }, { from: T + 330 }],
    },
    fires: { AckhookPaused: [T + 900, T + 930] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'the secret is wrong beside a scanner, at five events a minute',
    happens: {
      ...{ minutes: FRAME, rate: atRate(5), scans: atRate(6) },
      refusal: during(T, 2 * HOUR, 'signature_mismatch', undefined),
    },
    fires: { AckhookNothingVerifies: [T + 60, T + 690] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'dead letters are dropped by their age',
    happens: { minutes: FRAME, rate: atRate(5), once: [{ seconds: T, counter: drops('retention') }] },
    fires: { 'AckhookEventsDropped retention': [T, T + 30] },
  },
  {
    name: 'one delivery in ten is refused because the queue is full',
    happens: {
      ...{ minutes: FRAME, rate: atRate(300) },
      refusal: seconds =>
        seconds >= T && Math.floor(seconds * 7) % 10 === 0 ? 'capacity_exceeded' : undefined,
    },
    fires: { 'AckhookDeliveriesRefusedForOurFault capacity_exceeded': [T + 60, T + 135] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'handlers are too slow for what comes',
    happens: {
      ...{ minutes: FRAME, rate: atRate(60) },
      gauges: during(T, 2 * HOUR, { ackhook_oldest_untried: 90, ackhook_active: 16 }, {}),
    },
    fires: { 'AckhookBacklog slow': [T + 15, T + 60] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'no process handles events',
    happens: {
      ...{ minutes: FRAME, rate: atRate(0) },
      gauges: during(T, 2 * HOUR, { ackhook_oldest_untried: 90, ackhook_active: 0 }, {}),
    },
    fires: { 'AckhookBacklog no_worker': [T + 15, T + 105] },
    stillAt: 59 * MINUTE,
  },
  {
    name: 'a dependency fails three attempts in ten',
    happens: { minutes: FRAME, rate: atRate(60), fails: ({ random }) => random() < 0.3 },
  },
  {
    name: 'a dependency is away for forty seconds, and the retries succeed',
    happens: { minutes: FRAME, rate: atRate(120), fails: since(T, T + 40), retries: RETRIES.bullmq },
  },
  {
    name: 'one event of a quiet type fails four times, and another one is handled',
    happens: {
      ...{ minutes: FRAME, rate: during(T, T + 60, 2, 0), types: ['quiet.type'] },
      ...{ fails: ({ event }) => event === 0, retries: [1, 4, 16] },
    },
  },
  {
    name: 'Redis restarts within five seconds, at fifty events a second',
    happens: {
      ...{ minutes: FRAME, rate: atRate(3000) },
      refusal: during(T + 13, T + 18, 'inbox_unavailable', undefined),
    },
  },
  {
    name: 'Redis restarts within five seconds, at five events a minute',
    happens: {
      ...{ minutes: FRAME, rate: atRate(5) },
      refusal: during(T + 13, T + 18, 'inbox_unavailable', undefined),
    },
  },
  {
    name: 'a scanner begins beside ten events an hour',
    happens: { minutes: FRAME, rate: atRate(1 / 6), scans: during(T, 2 * HOUR, 200, 0) },
  },
  {
    name: 'a sender pauses for a quarter of an hour beside a scanner',
    happens: { minutes: FRAME, rate: during(T, T + 900, 0, 10), scans: atRate(12) },
  },
  {
    name: 'handling is paused for ten minutes of maintenance',
    happens: {
      ...{ minutes: FRAME, rate: atRate(9) },
      once: [{ seconds: T, counter: incidents('handling_paused') }],
      gauges: seconds => ({ ackhook_paused: seconds < T + 600 ? Math.max(0, seconds - T) : 0 }),
    },
  },
  {
    name: 'somebody erases a person',
    happens: { minutes: FRAME, rate: atRate(5), once: [{ seconds: T, counter: drops('erasure') }] },
  },
]

/** Situations that need a time of their own. */
export const ALONE: readonly Situation[] = [
  {
    name: 'a release renames the job',
    happens: {
      ...{ minutes: 100, rate: atRate(5) },
      processes: [{ to: 45 * MINUTE }, { job: 'renamed', from: 40 * MINUTE }],
    },
  },
  {
    name: 'a release renames the job, with the processes replaced one by one',
    happens: {
      ...{ minutes: 100, rate: atRate(60) },
      processes: Array.from({ length: 12 }, (_, at) =>
        at < 6 ? { to: T + at * 120 } : { job: 'renamed', from: T + (at - 6) * 120 - 60 },
      ),
    },
  },
]

/** As {@link ALONE}, and long. */
export const LONG: readonly Situation[] = [
  {
    name: 'the secret is wrong, at ten events an hour',
    happens: {
      ...{ minutes: 23 * 60, stepS: 60, rate: atRate(1 / 6) },
      refusal: during(6 * HOUR, 29 * HOUR, 'signature_mismatch', undefined),
    },
    fires: { AckhookNothingVerifies: [6 * HOUR, 8.5 * HOUR] },
    stillAt: 22.9 * HOUR,
  },
  {
    name: 'ten events an hour come by day, and a scanner by day and night',
    happens: {
      ...{ minutes: 23 * 60, stepS: 60, scans: seconds => (seconds % 7200 < 900 ? 40 : 1) },
      rate: seconds => (seconds % 86_400 < 9 * HOUR ? 1 / 6 : 0),
    },
  },
]
