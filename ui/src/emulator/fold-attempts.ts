import type { AttemptView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { replyTextOf } from '../../../packages/emulator/src/shapes/reply-filter.ts'

/** Folds neighboring attempts with equal replies and faults. */
export function foldAttempts(log: readonly AttemptView[]): readonly (readonly AttemptView[])[] {
  const groups: AttemptView[][] = []
  for (const attempt of log) {
    const last = groups.at(-1)
    if (last?.[0] !== undefined && keyOf(last[0]) === keyOf(attempt)) last.push(attempt)
    else groups.push([attempt])
  }
  return groups
}

/** Returns an attempt's reply as lists show it. */
export function replyOf({ status, code, error }: AttemptView): string {
  return replyTextOf({ lastStatus: status, lastCode: code, lastError: error })
}

function keyOf(attempt: AttemptView): string {
  return [replyOf(attempt), ...attempt.faults].join('\n')
}
