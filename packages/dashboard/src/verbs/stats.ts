import type { InboxStats, PausedHandling } from '@ackhook/core'
import type { MinuteCount } from '@ackhook/core/spi'
import { readActivity } from '../activity/read-activity.ts'
import type { ActivityReport } from '../protocol/protocol.ts'
import type { Block, Fact, Outcome } from '../protocol/verbs.ts'
import { joined, type Words } from '../protocol/words.ts'
import { pauseWords } from './pauses.ts'
import { type Call, defineVerb, type Verb } from './verb.ts'

/** Tells whether all is well, then counts and the figures of the last hour. */
export const stats: Verb = defineVerb({
  name: 'stats',
  summary: 'Count pending, active and dead events, and show what is paused',
  changes: 'nothing',
  words: { label: 'Stats', doing: 'Counting', done: 'counted' },
  fields: {},
  run: readStats,
})

async function readStats({ inbox, caller }: Call<unknown>): Promise<Outcome> {
  const show = caller.redact
  const [report, read] = await Promise.all([
    readActivity({ inbox, receiver: caller.receiver, show }, '1h'),
    // An inbox that cannot be read fails the verb: its error says more than a verdict.
    Promise.allSettled([inbox.stats(), inbox.throughput?.(), inbox.handling?.paused()]),
  ])
  const [{ waitingError: error, ...counts }, minutes, paused = []] = read.map(resultOf) as [
    InboxStats,
    readonly MinuteCount[] | undefined,
    readonly PausedHandling[] | undefined,
  ]
  const waitingError = error === undefined ? undefined : show(error, { id: '', type: '', namespace: '' })
  const { verdict, figures } = report
  const lastHour = minutes && lastHourOf(minutes)
  return {
    isDone: true,
    data: {
      verdict,
      ...counts,
      ...(waitingError !== undefined && { waitingError }),
      ...(lastHour && { lastHour }),
      ...(figures && { activity: figures.total }),
    },
    blocks: [
      { kind: 'line', words: verdict.sentence, tone: verdict.tone },
      ...(verdict.cause === undefined ? [] : [{ kind: 'facts', facts: [causeOf(verdict.cause)] } as Block]),
      { kind: 'facts', facts: factsOf({ ...counts, waitingError }, paused, figureFacts(report, minutes)) },
    ],
  }
}

function causeOf(cause: string): Fact {
  return { label: '', words: cause, isLong: true }
}

function factsOf(
  counts: Omit<InboxStats, 'waitingError'> & { readonly waitingError: string | undefined },
  paused: readonly PausedHandling[],
  figures: readonly Fact[],
): readonly Fact[] {
  const { pending, active, dead, oldestPendingMs, waitingError } = counts
  const fact = (label: string, words: Words): Fact => ({ label, words })
  return [
    fact('pending', String(pending)),
    fact('active', String(active)),
    { ...fact('dead', String(dead)), ...(dead > 0 && { tone: 'bad' as const }) },
    fact('oldest', `${Math.round(oldestPendingMs / 1000)} s`),
    ...(paused.length > 0 ? [fact('paused', joined(paused.map(pauseWords), ', '))] : []),
    ...figures,
    ...(waitingError === undefined ? [] : [{ ...fact('last error', waitingError), isLong: true as const }]),
  ]
}

function resultOf(result: PromiseSettledResult<unknown>): unknown {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

function figureFacts(
  { figures }: ActivityReport,
  minutes: readonly MinuteCount[] | undefined,
): readonly Fact[] {
  if (figures === undefined)
    return minutes === undefined ? [] : [{ label: 'last hour', words: describe(lastHourOf(minutes)) }]
  const { accepted, handled, failed, failedShare, deadLettered, lag, handlerTime } = figures.total
  const share = failedShare === undefined ? '' : ` (${Math.round(failedShare * 100)}%)`
  const failures = failed === 0 ? '' : `, ${failed} attempt${failed === 1 ? '' : 's'} failed${share}`
  const dead = deadLettered === 0 ? '' : `, ${deadLettered} dead-lettered`
  return [
    { label: 'last hour', words: `${accepted} accepted, ${handled} handled${failures}${dead}` },
    ...(lag === undefined ? [] : [{ label: 'lag', words: describeTimes(lag) }]),
    ...(handlerTime === undefined ? [] : [{ label: 'handlers', words: describeTimes(handlerTime) }]),
  ]
}

function describeTimes({ p50, p95 }: { readonly p50: number; readonly p95: number }): string {
  return `half within ${timeOf(p50)}, 95% within ${timeOf(p95)}`
}

/** Figures are exact to 9%, so two digits tell all of it. */
function timeOf(ms: number): string {
  if (ms < 1) return '1 ms'
  const [value, unit] = ms < 1000 ? [ms, 'ms'] : ms < 120_000 ? [ms / 1000, 's'] : [ms / 60_000, 'min']
  return `${Number(value.toPrecision(2))} ${unit}`
}

interface LastHour {
  readonly received: number
  readonly handled: number
  readonly deadLettered: number
}

function lastHourOf(minutes: readonly MinuteCount[]): LastHour {
  const sumOf = (name: keyof LastHour) => minutes.reduce((sum, minute) => sum + (minute[name] ?? 0), 0)
  return { received: sumOf('received'), handled: sumOf('handled'), deadLettered: sumOf('deadLettered') }
}

function describe({ received, handled, deadLettered }: LastHour): string {
  const dead = deadLettered === 0 ? '' : `, ${deadLettered} dead-lettered`
  return `${received} received, ${handled} handled${dead}`
}
