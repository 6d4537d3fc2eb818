import type { Mutants } from '../mutant.ts'
import { SmallStore } from './small-store.ts'
import { storeMutant } from './store-mutant.ts'

/** Stores that mistake who owns an id. */
export const mutants: Mutants = [
  storeMutant(
    'release-by-anyone',
    { wrong: 'releases the lease of another owner', caughtBy: 'store.claim.token-is-data' },
    class extends SmallStore {
      override async release(key: string): Promise<boolean> {
        return this.row(key) !== undefined && this.server.rows.delete(key)
      }
    },
  ),
  storeMutant(
    'own-claim-refused',
    { wrong: 'takes a claim sent twice for one of another owner', caughtBy: 'store.claim.own-token' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: { readonly leaseMs: number }) {
        const row = this.row(key)
        if (row?.token === token && row.fingerprint === undefined)
          return { outcome: 'in_flight', retryAfterMs: this.left(row) } as const
        return super.claim(key, token, options)
      }
    },
  ),
]
