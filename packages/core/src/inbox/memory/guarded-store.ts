import { withDeadline } from '../../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import type { Observation } from '../../observe/observation.ts'
import type { Claim, CompleteOptions, DedupeStore } from '../dedupe-store.ts'

/** A store whose every call ends in time and is observed. */
export type StoreGate = Required<Omit<DedupeStore, 'bounded'>>

const DEADLINE_MS = 1000
/** A store may have to connect first. */
const START_MS = 3000
const SLOW_MS = 250

/**
 * Puts a deadline around each call of a user's store, unless the store keeps one of its own. Client libraries
 * wait for ever by default when their server is gone; the sender would wait with them and count a timeout.
 */
export function createStoreGate(store: DedupeStore, observe: (observation: Observation) => void): StoreGate {
  function guard<T>(
    operation: string,
    call: () => MaybePromise<T>,
    late?: (value: T) => void,
    ms = DEADLINE_MS,
  ): MaybePromise<T> {
    let result: MaybePromise<T>
    try {
      result = call()
    } catch (error) {
      return down(operation, error)
    }
    if (!isPromise(result)) return result
    const started = performance.now()
    const limits = { operation: `store.${operation}`, ms, ...(late && { late }) }
    return (store.bounded === true ? result : withDeadline(result, limits)).then(
      value => {
        const durationMs = performance.now() - started
        if (durationMs > SLOW_MS) observe({ kind: 'store_slow', operation, durationMs })
        return value
      },
      error => down(operation, error),
    )
  }

  function down(operation: string, error: unknown): never {
    // The receiver tells of every inbox that could not start.
    if (operation !== 'start') observe({ kind: 'store_down', operation, error })
    throw error
  }

  return {
    claim: (key, token, options) =>
      guard<Claim>(
        'claim',
        () => store.claim(key, token, options),
        // The sender was told 503 by then. Given back at once, its retry need not wait for the lease to lapse.
        claim => {
          if (claim.outcome === 'claimed') quietly(() => store.release(key, token))
        },
      ),
    extend: (key, token, leaseMs) => guard('extend', () => store.extend(key, token, leaseMs)),
    complete: (key, token, options: CompleteOptions) =>
      guard('complete', () => store.complete(key, token, options)),
    start: report => guard('start', () => store.start?.(report), undefined, START_MS),
    release: (key, token) => guard('release', () => store.release(key, token)),
  }
}

/** For a release that is only a courtesy: the lease lapses by itself. */
function quietly(call: () => MaybePromise<unknown>): void {
  try {
    const result = call()
    if (isPromise(result)) result.then(undefined, () => {})
  } catch {}
}
