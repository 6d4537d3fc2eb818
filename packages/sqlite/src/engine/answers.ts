import { type Acceptance, ANSWER } from '@ackhook/core/spi'
import type { Admission, BatchResult, QueryResult } from '../protocol/batch-result.ts'
import { type Fault, isFault } from '../protocol/fault.ts'
import type { Pending, PendingBatch } from './pending-batch.ts'

type ToError = (fault: Fault) => Error

/** Answers everything that waits for one batch by its result. */
export function answer(batch: PendingBatch, result: BatchResult, toError: ToError): void {
  answerEach(batch.settlements, result.settled, toError)
  answerEach(batch.checks, result.stillHeld, toError)
  for (const [index, query] of batch.queries.entries()) answerQuery(query, result.found, index, toError)
  for (const [index, arrival] of batch.arrivals.entries()) {
    arrival.resolve(acceptanceOf(result.admissions, index, toError))
  }
}

/** Answers everything that waits for a batch without a result. */
export function answerFailed(batch: PendingBatch, error: unknown): void {
  for (const { resolve } of batch.arrivals) resolve(unavailable(error))
  for (const { reject } of [...batch.settlements, ...batch.checks, ...batch.queries]) reject(error)
}

export function unavailable(cause: unknown): Acceptance {
  return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
}

const MISSING = 'The storage returned no result.'

function acceptanceOf(admissions: readonly Admission[] | Fault, index: number, toError: ToError): Acceptance {
  if (isFault(admissions)) return unavailable(toError(admissions))
  const admission = admissions[index]
  if (typeof admission === 'string') return ANSWER[admission]
  return unavailable(new Error(admission?.refused ?? MISSING))
}

function answerQuery(
  query: Pending<unknown, unknown>,
  found: readonly QueryResult[] | Fault,
  index: number,
  toError: ToError,
): void {
  const result = isFault(found) ? found : found[index]
  if (result === undefined) query.reject(new Error(MISSING))
  else if (isFault(result)) query.reject(toError(result))
  else query.resolve(result.value)
}

function answerEach(
  waiting: readonly Pending<unknown, boolean>[],
  results: readonly boolean[] | Fault,
  toError: ToError,
): void {
  for (const [index, one] of waiting.entries()) {
    if (isFault(results)) one.reject(toError(results))
    else one.resolve(results[index] as boolean)
  }
}
