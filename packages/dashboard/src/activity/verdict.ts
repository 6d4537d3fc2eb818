import type { InboxStats } from '@ackhook/core'
import { type ActivitySlot, type InboxProcess, OTHER_TYPES } from '@ackhook/core/spi'
import type { Verdict } from '../protocol/protocol.ts'
import { talliesOf } from './figures.ts'

/** What a verdict is reached from. Times are milliseconds. */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Why the inbox or its store fails, if it does. */
  readonly outage?: string | undefined
  /** Absent if the inbox does not respond. */
  readonly stats?: InboxStats | undefined
  /** How long handling of all events has been paused, if that is known. */
  readonly pausedMs?: number | undefined
  /** Absent if the inbox does not record them. */
  readonly processes?: readonly InboxProcess[] | undefined
  /** The last hour by minute, the oldest first. Absent if the inbox keeps no figures. */
  readonly minutes?: readonly ActivitySlot[] | undefined
  /** True if nobody has started this process's receiver, on whose inbox stored events may wait. */
  readonly isNeverStarted?: boolean | undefined
  /** State of the option `expectEvery`. Absent without it. */
  readonly silence?: { readonly isSilent: boolean; readonly silentMs?: number | undefined } | undefined
  /** The last error of an event, as it may be shown. */
  readonly lastError?: string | undefined
}

/** Facts of an inbox that responds, with what the last hour tells. */
interface Known extends Facts {
  readonly stats: InboxStats
  readonly hour: LastHour
}

/** Time without a renewal after which a process counts as ended: three times the longest time between two. */
const GONE_MS = 30_000
/** Wait after which an event that no process takes is not just on its way. */
const WAITING_MS = 5000
/** Wait of an event that could run from which an inbox is behind. */
const BEHIND_MS = 60_000
/** Attempts that show the present state of a type. */
const ENOUGH = 20
/** Attempts without a failure that show that failures are over. */
const RECOVERED = 8
/** Share and number of failed attempts from which a type is failing. */
const FAILING_SHARE = 0.1
const FAILING_COUNT = 3
const MAX_NAMED = 3

/** One rule each for the states. The first one that applies decides: what it tells explains those below it. */
const RULES: readonly ((facts: Known) => Verdict | undefined)[] = [
  paused,
  neverStarted,
  withoutWorker,
  failingAll,
  failingTypes,
  pausedTypes,
  behind,
  silent,
  idle,
]

/** Tells in one sentence whether all is well now. Of several faults, it names the one that explains the others. */
export function verdictOf(facts: Facts): Verdict {
  const { outage, stats } = facts
  if (outage !== undefined || stats === undefined) {
    const sentence = 'Outage: the inbox or its store fails. Deliveries may be refused, and events wait.'
    return { state: 'outage', tone: 'bad', sentence, ...(outage !== undefined && { cause: outage }) }
  }
  const known: Known = { ...facts, stats, hour: new LastHour(facts.minutes ?? [], facts.now) }
  for (const rule of RULES) {
    const verdict = rule(known)
    if (verdict !== undefined) return verdict
  }
  return fine(known)
}

function paused({ stats, pausedMs }: Known): Verdict | undefined {
  if (stats.paused !== true) return undefined
  const since = pausedMs === undefined ? '' : ` for ${spanOf(pausedMs)}`
  const sentence = `Paused${since}: ${waitUntilResumed(stats.pending)}`
  return { state: 'paused', tone: 'wait', sentence, where: { list: 'pending' } }
}

function pausedTypes({ stats }: Known): Verdict | undefined {
  const types = stats.pausedTypes ?? []
  const [type] = types
  if (type === undefined) return undefined
  const sentence = `Paused: ${namesOf(types)} ${types.length === 1 ? 'is' : 'are'} accepted, and ${types.length === 1 ? 'waits' : 'wait'} until somebody resumes handling.`
  return { state: 'paused', tone: 'wait', sentence, where: { list: 'pending', type } }
}

function waitUntilResumed(pending: number): string {
  if (pending === 0) return 'events are accepted, and wait until somebody resumes handling.'
  return `${countOf(pending, 'event waits', 'events wait')} until somebody resumes handling.`
}

function neverStarted({ isNeverStarted, stats, processes }: Known): Verdict | undefined {
  if (isNeverStarted !== true || hasWorker(processes)) return undefined
  const waiting = stats.pending + stats.active
  const sentence =
    waiting === 0
      ? 'Never started: stored events would wait until the next delivery.'
      : `Never started: ${countOf(waiting, 'stored event waits', 'stored events wait')} until the next delivery.`
  const tone = waiting === 0 ? 'wait' : 'bad'
  return { state: 'never_started', tone, sentence, cause: `This process needs ${START}.` }
}

/** Events that a process was handling when it ended wait like the others: an inbox counts them as active until somebody starts. */
function withoutWorker({ stats, processes }: Known): Verdict | undefined {
  const { pending, active, oldestPendingMs } = stats
  const waiting = pending + active
  if (processes === undefined || waiting === 0 || oldestPendingMs < WAITING_MS) return undefined
  if (hasWorker(processes)) return undefined
  const wait = `${countOf(waiting, 'event waits', 'events wait')}, the oldest for ${spanOf(oldestPendingMs)}`
  const sentence = `No worker: ${wait}, and no process handles events.`
  const cause =
    processes.length === 0
      ? `No process has started a receiver with handlers on this inbox: it needs ${START}.`
      : `The last one, ${processes[0]?.process || 'unnamed'}, has been silent for ${spanOf(Math.min(...processes.map(({ seenMs }) => seenMs)))}.`
  return { state: 'no_worker', tone: 'bad', sentence, cause, where: { list: 'processes' } }
}

const START = 'gracefulShutdown(hooks, server), or await hooks.start()'

function hasWorker(processes: readonly InboxProcess[] = []): boolean {
  return processes.some(({ seenMs }) => seenMs <= GONE_MS)
}

function failingAll({ hour, lastError }: Known): Verdict | undefined {
  const { all, failing, samples } = hour
  if (failing.length === 0 || failing.length < samples.length) return undefined
  const only = samples.length === 1 ? ` at ${nameOf(samples[0]!.type)}` : ''
  const sentence = `Failing: ${shareOf(all)}${only} failed, within ${spanOf(all.spanMs)}.`
  return { state: 'failing_all', tone: 'bad', sentence, ...causeOf(lastError), where: { list: 'letters' } }
}

function failingTypes({ hour: { failing, samples }, lastError }: Known): Verdict | undefined {
  const [worst] = failing
  if (worst === undefined) return undefined
  const more = failing.slice(1).map(({ type }) => type)
  const isOne = more.length === 1 && more[0] !== OTHER_TYPES
  const others = more.length > 0 ? `, and ${namesOf(more)} ${isOne ? 'fails' : 'fail'} too` : ''
  const rest = restOf(samples.filter(sample => !failing.includes(sample)))
  const sentence = `Failing: ${shareOf(worst)} at ${nameOf(worst.type)} failed${others}. ${rest}`
  const type = worst.type === OTHER_TYPES ? {} : { type: worst.type }
  return {
    state: 'failing_types',
    tone: 'bad',
    sentence,
    ...causeOf(lastError),
    where: { list: 'letters', ...type },
  }
}

/** Tells of the types that are not failing. One of which some attempts failed is not called handled. */
function restOf(samples: readonly Sample[]): string {
  const handled = samples.filter(({ failed }) => failed === 0).length
  const partly = samples.length - handled
  if (handled === 0) return `${countOf(partly, 'other type', 'other types')} had failures.`
  const others = partly > 0 ? `, and ${partly} had failures` : ''
  return `${countOf(handled, 'other type is', 'other types are')} handled${others}.`
}

function behind({ stats, hour }: Known): Verdict | undefined {
  const { pending, oldestPendingMs, retrying, oldestUntriedMs = retrying ? 0 : oldestPendingMs } = stats
  if (oldestUntriedMs < BEHIND_MS) return undefined
  const sentence = `Behind: ${countOf(pending, 'event waits', 'events wait')}, the oldest for ${spanOf(oldestUntriedMs)}.`
  return { state: 'behind', tone: 'wait', sentence, cause: paceOf(hour), where: { list: 'pending' } }
}

/** Compares what came with what was handled, over five minutes. */
function paceOf({ accepted, ended }: LastHour): string {
  const pace = `In the last five minutes ${countOf(accepted, 'event came', 'events came')} and ${countOf(ended, 'attempt', 'attempts')} ended.`
  return `${pace} ${ended > accepted ? 'It is catching up.' : 'Raise concurrency, add processes or make handlers faster.'}`
}

function silent({ silence }: Known): Verdict | undefined {
  if (silence?.isSilent !== true) return undefined
  const since = silence.silentMs === undefined ? '' : ` for ${spanOf(silence.silentMs)}`
  const sentence = `Silent: no delivery${since}, longer than expectEvery allows.`
  const cause =
    'The endpoint may be disabled, or unreachable for the sender: see Refused for requests that do arrive.'
  return { state: 'silent', tone: 'wait', sentence, cause, where: { list: 'refusals' } }
}

function idle({ stats, minutes, hour }: Known): Verdict | undefined {
  if (stats.pending + stats.active > 0 || hour.all.handled + hour.all.failed + hour.acceptedInAll > 0)
    return undefined
  const came =
    minutes === undefined ? 'nothing waits or runs' : 'nothing came in the last hour, and nothing waits'
  return { state: 'idle', tone: 'idle', sentence: `Idle: ${came}.` }
}

function fine({ stats, minutes, hour }: Known): Verdict {
  const { handledInAll, failedInAll } = hour
  const failures =
    failedInAll === 0 ? 'no attempt failed' : `${countOf(failedInAll, 'attempt', 'attempts')} failed`
  const sentence =
    minutes === undefined
      ? `Fine: ${countOf(stats.pending, 'event waits', 'events wait')}, and ${countOf(stats.active, 'runs', 'run')}. Failures are not counted.`
      : `Fine: ${countOf(handledInAll, 'event', 'events')} handled in the last hour, and ${failures}.`
  return { state: 'fine', tone: 'good', sentence }
}

function causeOf(cause: string | undefined): Pick<Verdict, 'cause'> {
  return cause === undefined ? {} : { cause }
}

/** The last attempts at events of one type, or of all. */
interface Sample {
  readonly type: string
  handled: number
  failed: number
  /** Time since the first of them. */
  spanMs: number
}

/**
 * What the last hour tells about the present: of each type, as many minutes back as it takes for enough attempts. So a
 * type that fails once in an hour is seen, and one that is mended is well again after a few successes.
 */
class LastHour {
  readonly all: Sample = { type: OTHER_TYPES, handled: 0, failed: 0, spanMs: 0 }
  /** One for each type with attempts. */
  readonly samples: readonly Sample[]
  /** Those that fail, the worst first. */
  readonly failing: readonly Sample[]
  /** Events accepted and attempts ended within five minutes. */
  accepted = 0
  ended = 0
  acceptedInAll = 0
  handledInAll = 0
  failedInAll = 0

  constructor(minutes: readonly ActivitySlot[], now: number) {
    const samples = new Map<string, Sample>()
    for (const slot of minutes.toReversed()) {
      const spanMs = Math.max(1, now - slot.startedAt)
      const isRecent = spanMs <= RECENT_MS
      for (const [type, { accepted, handled, failed }] of talliesOf(slot)) {
        this.acceptedInAll += accepted
        this.handledInAll += handled
        this.failedInAll += failed
        if (isRecent) {
          this.accepted += accepted
          this.ended += handled + failed
        }
        if (handled + failed === 0) continue
        const sample = samples.get(type) ?? { type, handled: 0, failed: 0, spanMs }
        samples.set(type, sample)
        extend(sample, { handled, failed, spanMs })
      }
    }
    this.samples = [...samples.values()]
    this.failing = this.samples.filter(isFailing).sort((a, b) => b.failed - a.failed)
    for (const { handled, failed, spanMs } of this.samples) {
      this.all.handled += handled
      this.all.failed += failed
      this.all.spanMs = Math.max(this.all.spanMs, spanMs)
    }
  }
}

const RECENT_MS = 6 * 60_000

function extend(sample: Sample, { handled, failed, spanMs }: Omit<Sample, 'type'>): void {
  const isEnough = sample.handled + sample.failed >= ENOUGH
  if (isEnough || (sample.failed === 0 && sample.handled >= RECOVERED)) return
  sample.handled += handled
  sample.failed += failed
  sample.spanMs = spanMs
}

/** A single failure that another attempt has made good is none. */
function isFailing({ handled, failed }: Sample): boolean {
  if (handled === 0) return failed > 0
  return failed >= FAILING_COUNT && failed / (handled + failed) >= FAILING_SHARE
}

/** `88% of the last 50 attempts` */
function shareOf({ handled, failed }: Sample): string {
  if (handled === 0) return failed === 1 ? 'the last attempt' : `all of the last ${failed} attempts`
  const share = Math.round((failed / (handled + failed)) * 100)
  return `${share}% of the last ${handled + failed} attempts`
}

function nameOf(type: string): string {
  return type === OTHER_TYPES ? 'the other types' : type
}

function namesOf(types: readonly string[]): string {
  const more = types.length - MAX_NAMED
  const named = types.slice(0, MAX_NAMED).map(nameOf).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}

function countOf(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

function spanOf(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 2) return `${Math.max(1, Math.round(ms / 1000))} s`
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
