import { describeError, type ProcessingPolicy, type Verdict } from '@ackhook/core/spi'
import type { Lease, Settlement } from './protocol/batch.ts'

/** What a verdict changes in the file. `next`: the row whose lease comes with it. */
export function settlementOf(
  { seq, token }: Lease,
  verdict: Verdict,
  policy: ProcessingPolicy,
  next: Lease | undefined,
): Settlement {
  // Whole literals, no spreads. perf: note 7.
  switch (verdict.outcome) {
    case 'completed': {
      const forgetAt = Math.round(Date.now() + policy.retentionMs)
      if (next === undefined) return { kind: 'complete', seq, token, forgetAt }
      return { kind: 'complete', seq, token, forgetAt, next: { seq: next.seq, token: next.token } }
    }
    case 'retry': {
      const reason = describeError(verdict.error)
      return { kind: 'retry', seq, token, delayMs: Math.round(verdict.delayMs), reason }
    }
    case 'postponed':
      return { kind: 'postpone', seq, token, delayMs: Math.round(verdict.delayMs), mark: verdict.mark }
    case 'dead': {
      const reason = describeError(verdict.error)
      const failedAt = Math.round(policy.clock())
      return { kind: 'dead-letter', seq, token, failedAt, reason, mark: verdict.mark ?? null }
    }
  }
}
