import { createTokens } from '../../lib/tokens.ts'
import type { AttemptResult, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import type { Held } from '../lease-time.ts'
import { LeasedAttempts } from '../leased/leased-attempts.ts'
import type { LeaseEngine } from '../leased/take.ts'
import { StoreLease } from '../store-lease.ts'
import { type Entry, EntryTake } from './entry.ts'
import type { GuardedStore } from './guarded-store.ts'

export interface EntryLeasesParts {
  readonly store: GuardedStore
  readonly leaseMs: number
  readonly run: ProcessEvent
  readonly policy: Pick<ProcessingPolicy, 'observe' | 'retentionMs' | 'replayableMs'>
  /** Called right before an attempt, which it creates. */
  readonly onBegin: (entry: Entry) => void
  /** Called for an entry that another process owns now. */
  readonly onLost: (entry: Entry) => void
}

/** The leases of the entries: what the engine of attempts needs to know of a store. */
export class EntryLeases implements LeaseEngine<EntryTake> {
  readonly attempts: LeasedAttempts<EntryTake>
  readonly #parts: EntryLeasesParts
  readonly #newToken = createTokens()

  constructor(parts: EntryLeasesParts) {
    const { run: work, policy, leaseMs } = parts
    this.#parts = parts
    const onError = (): void => {} // The guarded store observes its failures.
    const own = { engine: this, work, policy, renewMs: leaseMs / 3, recordsUnderLease: true, onError }
    this.attempts = new LeasedAttempts<EntryTake>(own)
  }

  /** Creates the lease of a new entry. Its claim must follow at once. */
  create(entry: Entry): EntryTake {
    const { store, leaseMs } = this.#parts
    const { key, delivery } = entry
    const { fingerprint } = delivery
    return new EntryTake(
      entry,
      new StoreLease({ store, key, fingerprint, leaseMs, newToken: this.#newToken }),
    )
  }

  renew(takes: readonly EntryTake[]): Promise<readonly Held[]> {
    return Promise.all(takes.map(({ hold }) => hold.renew()))
  }

  retake({ hold }: EntryTake): Promise<Held> {
    return hold.renew()
  }

  begin({ entry }: EntryTake): Held {
    this.#parts.onBegin(entry)
    return 'held'
  }

  /** Remembers a handled event. Other results change nothing in the store, or release the lease. */
  async record({ hold, delivery: { namespace } }: EntryTake, _: AttemptResult): Promise<boolean> {
    const { retentionMs, replayableMs } = this.#parts.policy
    return hold.complete({ retentionMs, namespace, replayableMs })
  }

  lost({ entry }: EntryTake): void {
    this.#parts.onLost(entry)
  }
}
