import { printable } from '@ackhook/core/spi'
import type { SendAttempt, SendReport } from '@ackhook/testing'
import { hintsFor, messagesOf } from '../delivery/hints-for.ts'
import { createPaint } from '../terminal/text.ts'

/** Result of a run. Milliseconds are those of single requests. */
export interface Summary {
  /** Events. */
  readonly sent: number
  readonly acknowledged: number
  readonly undelivered: number
  /** Requests by reply: `202 accepted`, `401 unauthorized`, `no reply: ECONNREFUSED`. */
  readonly replies: Readonly<Record<string, number>>
  readonly p50Ms: number
  readonly p99Ms: number
  /** Ids of the events, at most 20. */
  readonly ids: readonly string[]
  /** What replies of 5xx say about themselves. */
  readonly messages: readonly string[]
  /** Reasons why some events were not acknowledged, with what to do. */
  readonly hints: readonly string[]
}

const SHOWN_IDS = 20

export function summarize(reports: readonly SendReport[]): Summary {
  const attempts = reports.flatMap(report => report.attempts)
  const replies: Record<string, number> = Object.create(null)
  for (const attempt of attempts) {
    const name = replyName(attempt)
    replies[name] = (replies[name] ?? 0) + 1
  }
  const durations = attempts.map(attempt => attempt.durationMs).sort((a, b) => a - b)
  const undelivered = reports.filter(report => report.outcome === 'undelivered').length
  return {
    sent: reports.length,
    acknowledged: reports.length - undelivered,
    undelivered,
    replies,
    p50Ms: percentile(durations, 0.5),
    p99Ms: percentile(durations, 0.99),
    ids: reports.slice(0, SHOWN_IDS).map(report => report.event.id),
    messages: messagesOf(attempts),
    hints: hintsFor(attempts, 'send'),
  }
}

export function describeSummary(summary: Summary, colors: boolean): string[] {
  const paint = createPaint(colors)
  const { sent, acknowledged, undelivered, replies, p50Ms, p99Ms } = summary
  const mark = undelivered === 0 && sent > 0 ? paint.good('✓') : paint.bad('✗')
  const events = sent === 1 ? '1 event' : `${sent} events`
  const lost = undelivered === 0 ? '' : `, ${undelivered} not`
  const lines = [`${mark} ${events} sent, ${acknowledged} acknowledged${lost}`]
  if (sent === 1) lines.push(`  id       ${summary.ids[0]}`)
  for (const [name, count] of Object.entries(replies)) {
    const color = /^2/.test(name) ? paint.good : paint.bad
    lines.push(`  ${String(count).padStart(5)} x  ${color(printable(name))}`)
  }
  for (const message of summary.messages) lines.push(`  your app says: ${printable(message)}`)
  lines.push(paint.dim(`  replies took ${p50Ms} ms (p50), ${p99Ms} ms (p99)`))
  return [...lines, ...summary.hints.map(hint => `  ${hint}`)]
}

function replyName({ status, code, error }: SendAttempt): string {
  if (status === undefined) return `no reply: ${error}`
  return code === undefined ? String(status) : `${status} ${code}`
}

/** Rounded to a tenth; 0 for an empty list. */
function percentile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
  return Math.round(value * 10) / 10
}
