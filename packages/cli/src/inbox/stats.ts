import type { InboxStats } from '@ackhook/core'
import { type MinuteCount, printable } from '@ackhook/core/spi'
import { type ActivityReport, readActivity } from '@ackhook/dashboard/activity'
import { EXIT } from '../command/exit-codes.ts'
import { createPaint, shorten, table } from '../terminal/text.ts'
import type { InboxFlags } from './inbox-flags.ts'
import { describePauses } from './pause-and-resume.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

/** Prints whether all is well, then counts and the figures of the last hour. */
export function stats(flags: InboxFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const [report, read] = await Promise.all([
      readActivity({ inbox }, '1h'),
      // An inbox that cannot be read fails the command: its error says more than a verdict.
      Promise.allSettled([inbox.stats(), inbox.throughput?.(), inbox.handling?.paused()]),
    ])
    const [counts, minutes, paused = []] = read.map(resultOf) as [
      InboxStats,
      readonly MinuteCount[] | undefined,
      Parameters<typeof describePauses>[0] | undefined,
    ]
    const { verdict, figures } = report
    if (flags.json) {
      const lastHour = minutes && lastHourOf(minutes)
      const activity = figures?.total
      terminal.out(
        JSON.stringify({ verdict, ...counts, ...(lastHour && { lastHour }), ...(activity && { activity }) }),
      )
      return EXIT.ok
    }
    for (const line of linesOf(report, terminal.columns, terminal.colors)) terminal.out(line)
    const { bad } = createPaint(terminal.colors)
    const rows = [
      ['pending', String(counts.pending)],
      ['active', String(counts.active)],
      ['dead', String(counts.dead)],
      ['oldest', `${Math.round(counts.oldestPendingMs / 1000)} s`],
      ...(paused.length > 0 ? [['paused', describePauses(paused)]] : []),
      ...figureRows(report, minutes),
      ...(counts.waitingError === undefined
        ? []
        : [['last error', shorten(printable(counts.waitingError), (terminal.columns ?? 1024) - 12)]]),
    ]
    for (const line of table(rows))
      terminal.out(line.startsWith('dead') && counts.dead > 0 ? bad(line) : line)
    return EXIT.ok
  })
}

function resultOf(result: PromiseSettledResult<unknown>): unknown {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

function linesOf(
  { verdict }: ActivityReport,
  columns: number | undefined,
  colors: boolean,
): readonly string[] {
  const paint = createPaint(colors)
  const { tone, sentence, cause } = verdict
  const style = { good: paint.good, bad: paint.bad, wait: paint.warn, idle: paint.dim }[tone]
  const lines = [style(printable(sentence))]
  if (cause !== undefined) lines.push(shorten(printable(cause), columns ?? 1024))
  return lines
}

function figureRows(
  { figures }: ActivityReport,
  minutes: readonly MinuteCount[] | undefined,
): readonly (readonly string[])[] {
  if (figures === undefined)
    return minutes === undefined ? [] : [['last hour', describe(lastHourOf(minutes))]]
  const { accepted, handled, failed, failedShare, deadLettered, lag, handlerTime } = figures.total
  const share = failedShare === undefined ? '' : ` (${Math.round(failedShare * 100)}%)`
  const failures = failed === 0 ? '' : `, ${failed} attempt${failed === 1 ? '' : 's'} failed${share}`
  const dead = deadLettered === 0 ? '' : `, ${deadLettered} dead-lettered`
  return [
    ['last hour', `${accepted} accepted, ${handled} handled${failures}${dead}`],
    ...(lag === undefined ? [] : [['lag', describeTimes(lag)]]),
    ...(handlerTime === undefined ? [] : [['handlers', describeTimes(handlerTime)]]),
  ]
}

function describeTimes({ p50, p95 }: { readonly p50: number; readonly p95: number }): string {
  return `half within ${show(p50)}, 95% within ${show(p95)}`
}

/** Figures are exact to 9%, so two digits tell all of it. */
function show(ms: number): string {
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
