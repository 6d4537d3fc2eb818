import { letProcessEnd } from './let-process-end.ts'

const QUIET_MS = 60_000

/**
 * Creates a function that reports a reason at once, then at most once a minute. `write` receives the last subject, the
 * number of other subjects as text (empty for none), the total count, and the reason. A timer reports the count of a
 * burst that has ended. It keeps no process alive; if it never fires, the next report has the count. Reasons after the
 * first `mostReasons` count as one.
 */
export function onceAMinute<Subject>(
  write: (subject: Subject, more: string, count: number, reason: string) => void,
  mostReasons: number = Number.POSITIVE_INFINITY,
): (reason: string, subject: Subject) => void {
  const reasons = new Map<string, { subject: Subject; at: number; count: number }>()

  function flush(key: string, subject: Subject, count: number): void {
    reasons.set(key, { subject, at: performance.now(), count: 0 })
    write(subject, count > 1 ? ` (and ${count - 1} more since the last report)` : '', count, key)
  }

  return (name, subject) => {
    const key = reasons.size < mostReasons || reasons.has(name) ? name : ''
    const reason = reasons.get(key)
    const waitMs = reason === undefined ? 0 : reason.at + QUIET_MS - performance.now()
    if (reason === undefined || waitMs <= 0) return flush(key, subject, 1 + (reason?.count ?? 0))
    reason.subject = subject
    if (reason.count++ > 0) return
    // Another report may have included the count by then.
    const flushLate = (): void => {
      if (reasons.get(key) === reason) flush(key, reason.subject, reason.count)
    }
    letProcessEnd(setTimeout(flushLate, waitMs))
  }
}
