import { ACCEPT_RESULTS, type AcceptResult } from '@ackhook/core/spi'
import {
  type Admission,
  type BatchResult,
  type QueryResult,
  READ_AHEAD_MS,
} from '../protocol/batch-result.ts'
import { type Fault, isFault } from '../protocol/fault.ts'
import type { Pending, PendingBatch } from './pending-batch.ts'

/** Delay of an overtaking event's reply. Once it is sent, no younger event of the key begins, even if read ahead. */
const OVERTAKING_MS = READ_AHEAD_MS + 10

type ToError = (fault: Fault) => Error

/** Settles every promise of a batch by its result. */
export function answer(batch: PendingBatch, result: BatchResult, toError: ToError): void {
  answerEach(batch.settlements, result.settled, toError)
  answerEach(batch.checks, result.stillHeld, toError)
  for (const [index, query] of batch.queries.entries()) answerQuery(query, result.found, index, toError)
  for (const [index, arrival] of batch.arrivals.entries()) {
    const acceptance = acceptanceOf(result.admissions, index, toError)
    if (isOvertaking(result.admissions, index)) setTimeout(arrival.resolve, OVERTAKING_MS, acceptance)
    else arrival.resolve(acceptance)
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

function acceptanceOf(
  admissions: readonly Admission[] | Fault,
  index: number,
  toError: ToError,
): AcceptResult {
  if (isFault(admissions)) return unavailable(toError(admissions))
  const admission = admissions[index]
  if (admission === 'overtaking') return ACCEPT_RESULTS.accepted
  if (admission === 'overtaking-replaced') return ACCEPT_RESULTS.replaced
  if (typeof admission === 'string') return ACCEPT_RESULTS[admission]
  return unavailable(new Error(admission?.refused ?? MISSING))
}

function isOvertaking(admissions: readonly Admission[] | Fault, index: number): boolean {
  const admission = isFault(admissions) ? undefined : admissions[index]
  return admission === 'overtaking' || admission === 'overtaking-replaced'
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
