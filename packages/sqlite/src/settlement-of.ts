import { describeError, type ProcessingPolicy, type Verdict } from '@ackhook/core/spi'
import type { Lease, Settlement } from './protocol/batch.ts'

/** What a verdict changes in the file. */
export function settlementOf({ seq, token }: Lease, verdict: Verdict, policy: ProcessingPolicy): Settlement {
  // Whole literals, no spreads. perf: note 7.
  switch (verdict.outcome) {
    case 'completed':
      return { kind: 'complete', seq, token, forgetAt: Math.round(Date.now() + policy.retentionMs) }
    case 'retry': {
      const reason = describeError(verdict.error)
      return { kind: 'retry', seq, token, delayMs: Math.round(verdict.delayMs), reason }
    }
    case 'dead': {
      const reason = describeError(verdict.error)
      return { kind: 'dead-letter', seq, token, failedAt: Math.round(policy.clock()), reason }
    }
  }
}
