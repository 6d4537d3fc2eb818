import { withDeadline } from '../../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import type { Observer } from '../../observe/observation.ts'
import type {
  Claim,
  ClaimOptions,
  CompleteOptions,
  DedupeStore,
  KeptRuns,
  StoredId,
  StoreNotice,
} from '../dedupe-store.ts'
import { KeptUndos } from '../kept-undos.ts'

/** Store behind an inbox: a `GuardedStore` around the user's, otherwise the inbox's own `SeenIds`, which has no leases. */
export type InboxStore = Required<Omit<DedupeStore, 'bounded' | 'countsRuns' | 'claim' | 'extend'>>

const DEADLINE_MS = 1000
/** Deadline of `start`, because a store may have to connect first. */
const START_MS = 3000
const SLOW_MS = 250

/**
 * Wraps a store so that every call ends in time and is observed. Most client libraries wait forever if their server is
 * gone; the sender would wait too and count a timeout.
 */
export class GuardedStore implements Required<Omit<DedupeStore, 'bounded' | 'countsRuns'>> {
  readonly #store: DedupeStore
  readonly #observe: Observer
  readonly #undos = new KeptUndos()
  /** That of the last claim: all claims of an inbox have the same. */
  #leaseMs = 0

  constructor(store: DedupeStore, observe: Observer) {
    this.#store = store
    this.#observe = observe
  }

  claim(key: string, token: string, options: ClaimOptions): MaybePromise<Claim> {
    // Releases at once: the sender got 503, and its retry would otherwise wait for the lease to expire.
    const late = (claim: Claim): void => {
      if (claim.outcome === 'claimed') this.#undo(key, token, keptRuns(claim, options))
    }
    this.#leaseMs = options.leaseMs
    const call = (): MaybePromise<Claim> => this.#store.claim(key, token, options)
    return this.#guard('claim', call, options.isRunning === true ? undefined : late)
  }

  handled(key: string, fingerprint: number): 'completed' | 'conflict' | undefined {
    try {
      return this.#store.handled?.(key, fingerprint)
    } catch {
      return undefined
    }
  }

  /** Only called if the store has it. */
  lookup(key: string): MaybePromise<StoredId> {
    return this.#guard<StoredId>('lookup', () => this.#store.lookup?.(key) ?? { state: 'unknown' })
  }

  extend(key: string, token: string, leaseMs: number): MaybePromise<boolean> {
    return this.#guard('extend', () => this.#store.extend(key, token, leaseMs))
  }

  complete(key: string, token: string, options: CompleteOptions): MaybePromise<boolean> {
    return this.#guard('complete', () => this.#store.complete(key, token, options))
  }

  /** A release that fails is kept, and tried again: until it succeeds, the lease keeps a redelivery away. */
  release(key: string, token: string, kept?: KeptRuns): MaybePromise<boolean> {
    const fail = (error: unknown): never => {
      this.#undo(key, token, kept)
      throw error
    }
    try {
      const released = this.#guard('release', () => this.#release(key, token, kept))
      return isPromise(released) ? released.then(undefined, fail) : released
    } catch (error) {
      return fail(error)
    }
  }

  forget(key: string): MaybePromise<boolean> {
    return this.#guard('forget', () => this.#store.forget(key))
  }

  start(report: (notice: StoreNotice) => void): MaybePromise<void> {
    return this.#guard('start', () => this.#store.start?.(report))
  }

  #undo(key: string, token: string, kept: KeptRuns | undefined): void {
    const limits = { operation: 'store.release', ms: DEADLINE_MS }
    this.#undos.add(async () => {
      const released = this.#release(key, token, kept)
      await (isPromise(released) ? withDeadline(Promise.resolve(released), limits) : released)
      // Nobody holds it with this token now, whether or not an earlier try was made.
      return true
    }, this.#leaseMs)
  }

  #release(key: string, token: string, kept: KeptRuns | undefined): MaybePromise<boolean> {
    return kept === undefined ? this.#store.release(key, token) : this.#store.release(key, token, kept)
  }

  /** Synchronous if the store is. `late` receives a result that arrives after the deadline. */
  #guard<T>(operation: string, call: () => MaybePromise<T>, late?: (value: T) => void): MaybePromise<T> {
    let result: MaybePromise<T>
    try {
      result = call()
    } catch (error) {
      return this.#fail(operation, error)
    }
    if (!isPromise(result)) return result
    const startedAt = performance.now()
    const ms = operation === 'start' ? START_MS : DEADLINE_MS
    const limits = { operation: `store.${operation}`, ms, ...(late && { late }) }
    const bounded = this.#store.bounded === true ? result : withDeadline(result, limits)
    return bounded.then(
      value => {
        const durationMs = performance.now() - startedAt
        if (durationMs > SLOW_MS) this.#observe({ kind: 'store_slow', operation, durationMs })
        return value
      },
      error => this.#fail(operation, error),
    )
  }

  #fail(operation: string, error: unknown): never {
    // The receiver itself observes any inbox that fails to start.
    if (operation !== 'start') this.#observe({ kind: 'store_down', operation, error })
    throw error
  }
}

/** Returns the count before a claim whose event never began, so that its release keeps it. */
function keptRuns(
  { runs }: Extract<Claim, { outcome: 'claimed' }>,
  { countForMs }: ClaimOptions,
): KeptRuns | undefined {
  return runs && countForMs !== undefined ? { ...runs, countForMs } : undefined
}
