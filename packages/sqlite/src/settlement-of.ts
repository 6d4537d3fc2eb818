import { type AttemptResult, describeError, type ProcessingPolicy } from '@ackhook/core/spi'
import type { Lease, Settlement } from './protocol/batch.ts'

/** Latest time that a `Date` can represent. */
const MAX_TIME = 8.64e15
/** Limit for an error's text. A page of letters shows many. */
const MAX_REASON = 8192

/** Returns the change to the file for a result. `next`: the row that gets its lease with this result. */
export function settlementOf(
  { seq, token }: Lease,
  result: AttemptResult,
  policy: ProcessingPolicy,
  next: Lease | undefined,
): Settlement {
  // Whole literals, no spreads. perf: note 7.
  switch (result.outcome) {
    case 'completed': {
      const forgetAt = Math.round(Date.now() + policy.retentionMs)
      if (next === undefined) return { kind: 'complete', seq, token, forgetAt }
      return { kind: 'complete', seq, token, forgetAt, next: { seq: next.seq, token: next.token } }
    }
    case 'retry': {
      const reason = reasonOf(result.error)
      return { kind: 'retry', seq, token, delayMs: Math.round(result.delayMs), reason }
    }
    case 'postponed':
      return { kind: 'postpone', seq, token, delayMs: Math.round(result.delayMs), mark: result.routingToken }
    case 'dead': {
      const reason = reasonOf(result.error)
      const failedAt = timeOf(policy)
      return { kind: 'dead-letter', seq, token, failedAt, reason, mark: result.routingToken ?? null }
    }
  }
}

/** Returns the time by the user's clock, or the machine's if that is invalid. */
function timeOf({ clock }: ProcessingPolicy): number {
  const now = Math.round(clock())
  return Math.abs(now) <= MAX_TIME ? now : Date.now()
}

function reasonOf(error: unknown): string {
  const reason = describeError(error)
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON - 1)}…` : reason
}
