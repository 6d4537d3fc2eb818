import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Delivery } from '../delivery.ts'
import type { ProcessingPolicy } from '../inbox.ts'
import { about, type Entry } from './entry.ts'
import type { StoreGate } from './guarded-store.ts'

export interface CompletionParts {
  readonly store: StoreGate
  readonly policy: Pick<ProcessingPolicy, 'retentionMs' | 'observe'>
  readonly isDraining: () => boolean
  readonly settle: (entry: Entry) => void
}

/** Remembers the id of a handled event, then settles it. */
export function createCompletion(parts: CompletionParts): (entry: Entry) => void {
  const { store, policy, isDraining, settle } = parts

  function remember({ key, token }: Entry, fingerprint: number): MaybePromise<boolean> {
    try {
      return store.complete(key, token, { retentionMs: policy.retentionMs, fingerprint })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** While remembering the id fails, the lease is all that keeps a redelivery from running again. */
  async function completeLater(entry: Entry, mark: number, first: MaybePromise<boolean>): Promise<void> {
    const of = about(entry.delivery)
    let kept = first
    for (let delayMs = 250; ; delayMs *= 2) {
      try {
        if (!(await kept)) policy.observe({ kind: 'lease_lost', ...of })
        break
      } catch (error) {
        if (isDraining() || performance.now() + delayMs >= entry.leasedUntil) {
          policy.observe({ kind: 'completion_lost', ...of, error })
          break
        }
        await new Promise(resolve => setTimeout(resolve, delayMs))
        kept = remember(entry, mark)
      }
    }
    settle(entry)
  }

  // A store that answers at once is not awaited: that would be a promise for each event.
  return entry => {
    entry.phase = 'completing'
    const mark = storeMark(entry.delivery)
    const kept = remember(entry, mark)
    if (kept === true) settle(entry)
    else void completeLater(entry, mark, kept)
  }
}

/**
 * What a store keeps of the fingerprint. Redis holds one shared object for each number below 10,000, so that
 * this mark takes no memory there; one changed body in 10,000 goes unreported for it, and none runs twice.
 */
export function storeMark(delivery: Delivery): number {
  return (delivery.fingerprint >>> 0) % 10_000
}
