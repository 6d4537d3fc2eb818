import type { BatchResult } from '../protocol/batch-result.ts'
import { unlessEmpty } from './unless-empty.ts'

/** A batch's result as sent back by the thread: a list like `BatchMessage`. perf: note 44. */
export type ResultMessage = readonly [
  id: number,
  nextDueMs: number | undefined,
  admissions: BatchResult['admissions'] | undefined,
  settled: BatchResult['settled'] | undefined,
  stillHeld: BatchResult['stillHeld'] | undefined,
  found: BatchResult['found'] | undefined,
  taken: BatchResult['taken'] | undefined,
  paused: BatchResult['paused'],
]

export function writeResult(id: number, result: BatchResult): ResultMessage {
  const { nextDueMs, admissions, settled, stillHeld, found, taken, paused } = result
  return [
    id,
    nextDueMs,
    unlessEmpty(admissions),
    unlessEmpty(settled),
    unlessEmpty(stillHeld),
    unlessEmpty(found),
    unlessEmpty(taken),
    paused,
  ]
}

export function readResult([
  ,
  nextDueMs,
  admissions = [],
  settled = [],
  stillHeld = [],
  found = [],
  taken = [],
  paused,
]: ResultMessage): BatchResult {
  return { admissions, settled, stillHeld, found, taken, nextDueMs, paused }
}
