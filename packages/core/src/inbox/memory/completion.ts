import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { identityOf } from '../delivery.ts'
import type { Entry } from './entry.ts'
import { finish, type State } from './state.ts'

const FIRST_DELAY_MS = 250

/** Remembers the id of a handled event, then finishes its entry. */
export function complete(state: State, entry: Entry): void {
  entry.phase = 'completing'
  state.minutes.add('handled')
  const remembered = remember(state, entry)
  // A store that answers synchronously is not awaited. perf: note 24.
  if (remembered === true) finish(state, entry)
  else void completeLater(state, entry, remembered)
}

/** Until the id is remembered, only the lease keeps a redelivery from running again. */
async function completeLater(state: State, entry: Entry, first: MaybePromise<boolean>): Promise<void> {
  const { observe } = state.policy
  const event = identityOf(entry.delivery)
  let remembered = first
  for (let delayMs = FIRST_DELAY_MS; ; delayMs *= 2) {
    try {
      if (!(await remembered)) observe({ kind: 'lease_lost', ...event })
      break
    } catch (error) {
      if (state.isDraining || performance.now() + delayMs >= entry.leasedUntil) {
        observe({ kind: 'completion_lost', ...event, error })
        break
      }
    }
    await new Promise(resolve => setTimeout(resolve, delayMs))
    remembered = remember(state, entry)
  }
  finish(state, entry)
}

function remember({ store, policy }: State, { key, token, storedFingerprint }: Entry): MaybePromise<boolean> {
  try {
    return store.complete(key, token, { retentionMs: policy.retentionMs, fingerprint: storedFingerprint })
  } catch (error) {
    return Promise.reject(error)
  }
}
