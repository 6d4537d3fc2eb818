import type { Mutants } from '../mutant.ts'
import { type Completion, type Lease, SmallStore } from './small-store.ts'
import { storeMutant } from './store-mutant.ts'

/** Stores that confuse the owners of an id. */
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
    'extend-by-anyone',
    { wrong: 'extends the lease of another owner', caughtBy: 'store.stale-owner' },
    class extends SmallStore {
      override async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
        return super.extend(key, this.row(key)?.token ?? token, leaseMs)
      }
    },
  ),
  storeMutant(
    'complete-by-anyone',
    { wrong: 'completes an id that another owner has leased', caughtBy: 'store.stale-owner' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        return super.complete(key, this.row(key)?.token ?? token, options)
      }
    },
  ),
  storeMutant(
    'own-claim-refused',
    { wrong: "treats a resent claim as another owner's", caughtBy: 'store.claim.own-token' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        if (this.isMine(key, token)) return { outcome: 'in_flight', retryAfterMs: 1 } as const
        return super.claim(key, token, options)
      }
    },
  ),
  storeMutant(
    'owner-claims-completed',
    { wrong: 'lets an owner claim an id that it has completed', caughtBy: 'store.complete.remembers' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        if (this.row(key)?.token === token) this.server.rows.delete(key)
        return super.claim(key, token, options)
      }
    },
  ),
  storeMutant(
    'late-extend',
    { wrong: 'extends an expired lease', caughtBy: 'store.lapse.owner' },
    class extends SmallStore {
      override async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
        const row = this.server.rows.get(key)
        if (row?.token !== token || row.fingerprint !== undefined) return false
        this.write(key, { token, until: this.now() + leaseMs })
        return true
      }

      protected override sweep(): void {}

      protected override row(key: string) {
        const row = this.server.rows.get(key)
        return row !== undefined && row.until > this.now() ? row : undefined
      }
    },
  ),
  storeMutant(
    'late-release',
    { wrong: 'claims that it released an expired lease', caughtBy: 'store.lapse.owner' },
    class extends SmallStore {
      readonly #owners = new Map<string, string>()

      protected override write(...[key, row]: Parameters<SmallStore['write']>): void {
        this.#owners.set(key, row.fingerprint === undefined ? row.token : '')
        super.write(key, row)
      }

      override async release(key: string, token: string): Promise<boolean> {
        if (this.row(key) !== undefined) return super.release(key, token)
        const isOwner = this.#owners.get(key) === token
        this.#owners.delete(key)
        return isOwner
      }
    },
  ),
  storeMutant(
    'late-complete-refused',
    { wrong: 'forgets a handled id whose lease had expired', caughtBy: 'store.complete.lapsed' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        if (this.row(key) === undefined) return false
        return super.complete(key, token, options)
      }
    },
  ),
  storeMutant(
    'complete-once',
    { wrong: 'refuses a resent completion', caughtBy: 'store.complete.twice' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        if (this.row(key)?.fingerprint !== undefined) return false
        return super.complete(key, token, options)
      }
    },
  ),
  storeMutant(
    'release-completed',
    { wrong: 'releases an id that its owner has completed', caughtBy: 'store.complete.ends-lease' },
    class extends SmallStore {
      protected override isMine(key: string, token: string): boolean {
        return this.row(key)?.token === token
      }
    },
  ),
  storeMutant(
    'extend-claims',
    { wrong: 'claims a free id on extension', caughtBy: 'store.extend.free' },
    class extends SmallStore {
      override async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
        if (this.row(key) !== undefined) return super.extend(key, token, leaseMs)
        this.write(key, { token, until: this.now() + leaseMs })
        return false
      }
    },
  ),
  storeMutant(
    'release-keeps-row',
    { wrong: 'keeps a released lease until it expires', caughtBy: 'store.release.frees' },
    class extends SmallStore {
      override async release(key: string, token: string): Promise<boolean> {
        return this.isMine(key, token)
      }
    },
  ),
  storeMutant(
    'release-twice',
    { wrong: 'claims that it released a free id', caughtBy: 'store.release.frees' },
    class extends SmallStore {
      override async release(key: string, token: string): Promise<boolean> {
        if (this.row(key) === undefined) return true
        return super.release(key, token)
      }
    },
  ),
  storeMutant(
    'token-prefix',
    { wrong: 'compares only the first characters of tokens', caughtBy: 'store.claim.token-is-data' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        return super.claim(key, token.slice(0, 1), options)
      }

      override async release(key: string, token: string): Promise<boolean> {
        return super.release(key, token.slice(0, 1))
      }
    },
  ),
  storeMutant(
    'case-insensitive-keys',
    { wrong: 'treats ids that differ in case as one', caughtBy: 'store.claim.independent' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        return super.claim(key.toLowerCase(), token, options)
      }

      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        return super.complete(key.toLowerCase(), token, options)
      }
    },
  ),
]
