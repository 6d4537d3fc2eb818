import type { BatchResult } from '../protocol/batch-result.ts'
import { isFault } from '../protocol/fault.ts'

/** The result of a batch on its way back, in the same way. perf: note 44. */
export type ResultMessage = readonly [
  id: number,
  nextDueMs: number | undefined,
  admissions: BatchResult['admissions'] | undefined,
  settled: BatchResult['settled'] | undefined,
  stillHeld: BatchResult['stillHeld'] | undefined,
  found: BatchResult['found'] | undefined,
  taken: BatchResult['taken'] | undefined,
]

export function writeResult(id: number, result: BatchResult): ResultMessage {
  const { nextDueMs, admissions, settled, stillHeld, found, taken } = result
  return [id, nextDueMs, some(admissions), some(settled), some(stillHeld), some(found), some(taken)]
}

export function readResult([
  ,
  nextDueMs,
  admissions = [],
  settled = [],
  stillHeld = [],
  found = [],
  taken = [],
]: ResultMessage): BatchResult {
  return { admissions, settled, stillHeld, found, taken, nextDueMs }
}

function some<T extends BatchResult[keyof BatchResult] & object>(part: T): T | undefined {
  return isFault(part) || part.length > 0 ? part : undefined
}
