import { ACCEPT_RESULTS, type AcceptResult } from '@ackhook/core/spi'
import type { Admission, BatchResult, QueryResult } from '../protocol/batch-result.ts'
import { type Fault, isFault } from '../protocol/fault.ts'
import type { Pending, PendingBatch } from './pending-batch.ts'

type ToError = (fault: Fault) => Error

/** Settles every promise of a batch by its result. */
export function answer(batch: PendingBatch, result: BatchResult, toError: ToError): void {
  answerEach(batch.settlements, result.settled, toError)
  answerEach(batch.checks, result.stillHeld, toError)
  for (const [index, query] of batch.queries.entries()) answerQuery(query, result.found, index, toError)
  for (const [index, arrival] of batch.arrivals.entries()) {
    const { admissions } = result
    if (isFault(admissions)) arrival.resolve(unavailable(toError(admissions)))
    else answerArrival(arrival, admissions[index])
  }
}

/** Settles every promise of a batch that failed. */
export function answerFailed(batch: PendingBatch, error: unknown): void {
  for (const { resolve } of batch.arrivals) resolve(unavailable(error))
  for (const { reject } of [...batch.settlements, ...batch.checks, ...batch.queries]) reject(error)
}

export function unavailable(cause: unknown): AcceptResult {
  return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
}

const MISSING = 'The storage returned no result.'

function answerArrival({ resolve }: Pending<unknown, AcceptResult>, admission: Admission | undefined): void {
  if (admission === undefined) resolve(unavailable(new Error(MISSING)))
  else if (typeof admission === 'string') resolve(ACCEPT_RESULTS[admission])
  else if ('refused' in admission) resolve(unavailable(new Error(admission.refused)))
  else setTimeout(resolve, admission.waitMs, ACCEPT_RESULTS[admission.later])
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
