import type { Claim, StoredId } from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import { type Completion, type Lease, type Row, SmallStore } from './small-store.ts'
import { storeMutant } from './store-mutant.ts'

const FAILURE = 'store.failure.rejects'

/** Bodies of leased rows. */
const BODIES = new WeakMap<Row, number>()

/** Keeps something else than the fingerprint that a claim is compared with. */
function keeping(change: (fingerprint: number) => unknown) {
  return class extends SmallStore {
    override async complete(key: string, token: string, options: Completion): Promise<boolean> {
      const fingerprint = change(options.fingerprint) as number
      return super.complete(key, token, { ...options, fingerprint })
    }
  }
}

/** Keeps a part of the fingerprint, and compares by it. */
function comparing(part: (fingerprint: number) => number) {
  return class extends keeping(part) {
    override async claim(key: string, token: string, options: Lease): Promise<Claim> {
      return super.claim(key, token, { ...options, fingerprint: part(options.fingerprint) })
    }
  }
}

/** Stores that return wrong results, lose results, or keep rows that they should delete. */
export const mutants: Mutants = [
  storeMutant(
    'check-then-write',
    {
      wrong: 'reads and writes in two steps, so that two racing claims win',
      caughtBy: 'store.claim.race',
    },
    class extends SmallStore {
      override async claim(key: string, token: string, { leaseMs, fingerprint }: Lease): Promise<Claim> {
        const row = this.row(key)
        if (row?.fingerprint !== undefined)
          return { outcome: row.fingerprint === fingerprint ? 'completed' : 'conflict' }
        if (row !== undefined && row.token !== token)
          return { outcome: 'in_flight', retryAfterMs: this.left(row) }
        await Promise.resolve()
        this.write(key, { token, until: this.now() + leaseMs })
        return { outcome: 'claimed' }
      }
    },
  ),
  storeMutant(
    'views-apart',
    { wrong: 'keeps the claims of each process to itself', caughtBy: 'store.claim.in-flight' },
    class extends SmallStore {
      readonly #rows = new Map<string, Row>()

      protected override row(key: string): Row | undefined {
        const row = this.#rows.get(key)
        return row !== undefined && row.until > this.now() ? row : undefined
      }

      protected override write(key: string, row: Row): void {
        this.#rows.set(key, row)
      }
    },
  ),
  storeMutant(
    'answers-mixed-up',
    { wrong: 'returns the first result for all claims in one tick', caughtBy: 'store.claim.many' },
    class extends SmallStore {
      #batch: Promise<Claim> | undefined

      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        const claim = super.claim(key, token, options)
        this.#batch ??= claim
        const first = await this.#batch
        this.#batch = undefined
        return first
      }
    },
  ),
  storeMutant(
    'lock-never-released',
    { wrong: 'locks the store with a claim until the id is released', caughtBy: 'store.views' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        while (this.server.rows.size > 0 && !this.isMine(key, token)) {
          await new Promise(resolve => setTimeout(resolve, 10))
        }
        return super.claim(key, token, options)
      }
    },
  ),
  storeMutant(
    'no-fingerprint',
    { wrong: 'compares no fingerprints', caughtBy: 'store.claim.conflict' },
    comparing(() => 0),
  ),
  storeMutant(
    'one-byte',
    { wrong: 'compares one byte of the fingerprint', caughtBy: 'store.claim.conflict' },
    comparing(n => (n >> 16) & 0xff),
  ),
  storeMutant(
    'conflict-claimed',
    { wrong: 'leases a completed id for another body', caughtBy: 'store.claim.conflict' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        const claim = await super.claim(key, token, options)
        return claim.outcome === 'conflict' ? { outcome: 'claimed' } : claim
      }
    },
  ),
  storeMutant(
    'conflict-overwrites',
    { wrong: 'keeps the fingerprint of the last claim', caughtBy: 'store.claim.conflict' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        const claim = await super.claim(key, token, options)
        const row = this.row(key)
        if (claim.outcome === 'conflict' && row !== undefined)
          this.write(key, { ...row, fingerprint: options.fingerprint })
        return claim
      }
    },
  ),
  storeMutant(
    'conflict-leased',
    { wrong: 'returns conflict for a leased id', caughtBy: 'store.claim.conflict' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        const claim = await super.claim(key, token, options)
        const row = this.row(key)
        if (row !== undefined && claim.outcome === 'claimed') BODIES.set(row, options.fingerprint)
        const isOther = row !== undefined && BODIES.get(row) !== options.fingerprint
        return claim.outcome === 'in_flight' && isOther ? { outcome: 'conflict' } : claim
      }
    },
  ),
  storeMutant(
    'text-fingerprint',
    { wrong: 'compares the fingerprint as text', caughtBy: 'store.complete.fingerprint' },
    keeping(String),
  ),
  storeMutant(
    'unsigned-fingerprint',
    { wrong: 'keeps the fingerprint without its sign', caughtBy: 'store.complete.fingerprint' },
    keeping(n => n >>> 0),
  ),
  storeMutant(
    'short-fingerprint',
    { wrong: 'keeps 16 bits of the fingerprint, and compares all', caughtBy: 'store.complete.fingerprint' },
    keeping(n => n & 0xffff),
  ),
  storeMutant(
    'completed-in-flight',
    { wrong: 'returns in_flight for a completed id', caughtBy: 'store.complete.remembers' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        const claim = await super.claim(key, token, options)
        return claim.outcome === 'completed' ? { outcome: 'in_flight', retryAfterMs: 1000 } : claim
      }
    },
  ),
  storeMutant(
    'in-flight-completed',
    { wrong: 'returns completed for a leased id', caughtBy: 'store.claim.in-flight' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        const claim = await super.claim(key, token, options)
        return claim.outcome === 'in_flight' ? { outcome: 'completed' } : claim
      }
    },
  ),
  storeMutant(
    'complete-forgets',
    { wrong: 'deletes an id on completion', caughtBy: 'store.complete.remembers' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        return (await super.complete(key, token, options)) && this.server.rows.delete(key)
      }
    },
  ),
  storeMutant(
    'lookup-seconds',
    { wrong: 'tells the time left of a handled id in seconds', caughtBy: 'store.lookup' },
    class extends SmallStore {
      override async lookup(key: string): Promise<StoredId> {
        const found = await super.lookup(key)
        return found.state === 'handled' ? { ...found, leftMs: found.leftMs / 1000 } : found
      }
    },
  ),
  storeMutant(
    'lookup-lapsed',
    { wrong: 'tells an id whose lease is over as claimed', caughtBy: 'store.lookup' },
    class extends SmallStore {
      override async lookup(key: string): Promise<StoredId> {
        const found = await super.lookup(key)
        return key === 'lapsed' && found.state === 'unknown' ? { state: 'claimed' } : found
      }
    },
  ),
  storeMutant(
    'lookup-counts',
    { wrong: 'forgets the count of runs that it looks up', caughtBy: 'store.lookup' },
    class extends SmallStore {
      override async lookup(key: string): Promise<StoredId> {
        this.server.counts.delete(key)
        return super.lookup(key)
      }
    },
  ),
  storeMutant(
    'lookup-claims',
    { wrong: 'takes a lease with a lookup', caughtBy: 'store.lookup' },
    class extends SmallStore {
      override async lookup(key: string): Promise<StoredId> {
        const found = await super.lookup(key)
        if (found.state === 'unknown') this.write(key, { token: 'lookup', until: this.now() + 60_000 })
        return found
      }
    },
  ),
  storeMutant(
    'forget-leased',
    { wrong: 'forgets a leased id', caughtBy: 'store.forget' },
    class extends SmallStore {
      override async forget(key: string): Promise<boolean> {
        return this.row(key) !== undefined && this.server.rows.delete(key)
      }
    },
  ),
  storeMutant(
    'forget-always-true',
    { wrong: 'claims that it forgot an unknown id', caughtBy: 'store.forget' },
    class extends SmallStore {
      override async forget(key: string): Promise<boolean> {
        const row = this.row(key)
        if (row?.fingerprint !== undefined) this.server.rows.delete(key)
        return row === undefined || row.fingerprint !== undefined
      }
    },
  ),
  storeMutant(
    'forget-does-nothing',
    { wrong: 'confirms that it forgot an id, but keeps it', caughtBy: 'store.forget' },
    class extends SmallStore {
      override async forget(key: string): Promise<boolean> {
        return this.row(key)?.fingerprint !== undefined
      }
    },
  ),
  storeMutant(
    'failure-claimed',
    { wrong: 'returns claimed if the server fails', caughtBy: FAILURE },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        return super.claim(key, token, options).catch((): Claim => ({ outcome: 'claimed' }))
      }
    },
  ),
  storeMutant(
    'failure-full',
    { wrong: 'returns full if the server fails', caughtBy: FAILURE },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        return super.claim(key, token, options).catch((): Claim => ({ outcome: 'full' }))
      }
    },
  ),
  storeMutant(
    'failure-completes',
    { wrong: 'swallows the error of a completion', caughtBy: FAILURE },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        return super.complete(key, token, options).catch(() => true)
      }
    },
  ),
  storeMutant(
    'failure-is-false',
    { wrong: 'returns false for an extension if the server fails', caughtBy: FAILURE },
    class extends SmallStore {
      override async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
        return super.extend(key, token, leaseMs).catch(() => false)
      }
    },
  ),
  storeMutant(
    'failure-releases',
    { wrong: 'swallows the error of a release', caughtBy: FAILURE },
    class extends SmallStore {
      override async release(key: string, token: string): Promise<boolean> {
        return super.release(key, token).catch(() => true)
      }
    },
  ),
  storeMutant(
    'failure-for-good',
    { wrong: 'fails permanently after one failure', caughtBy: 'store.failure.recovers' },
    class extends SmallStore {
      #isBroken = false

      protected override command(): void {
        this.#isBroken ||= this.server.isFailing
        if (this.#isBroken) throw new Error('The connection is closed')
      }
    },
  ),
  storeMutant(
    'failure-loses-lease',
    { wrong: 'deletes the lease when its completion fails', caughtBy: 'store.failure.recovers' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        return super.complete(key, token, options).catch(error => {
          this.server.rows.delete(key)
          throw error
        })
      }
    },
  ),
  storeMutant(
    'never-full',
    { wrong: 'ignores its claim limit', caughtBy: 'store.full' },
    class extends SmallStore {
      protected override claims(): number {
        return 0
      }
    },
  ),
  storeMutant(
    'full-evicts',
    { wrong: 'evicts a claim in flight for another one', caughtBy: 'store.full' },
    class extends SmallStore {
      protected override write(key: string, row: Row): void {
        super.write(key, row)
        const [oldest] = this.server.rows.keys()
        if (this.server.rows.size > this.server.room && oldest !== undefined) this.server.rows.delete(oldest)
      }

      protected override claims(): number {
        return 0
      }
    },
  ),
  storeMutant(
    'own-claim-full',
    { wrong: "returns full to a claim's owner if there is no room", caughtBy: 'store.full' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease): Promise<Claim> {
        if (this.isMine(key, token) && this.claims() >= this.server.room) return { outcome: 'full' }
        return super.claim(key, token, options)
      }
    },
  ),
  storeMutant(
    'completed-take-room',
    { wrong: 'counts completed ids against the claim limit', caughtBy: 'store.full.completed' },
    class extends SmallStore {
      protected override claims(): number {
        return this.server.rows.size
      }
    },
  ),
  storeMutant(
    'lapsed-take-room',
    { wrong: 'counts lapsed claims against the claim limit', caughtBy: 'store.full.lapsed' },
    class extends SmallStore {
      protected override sweep(): void {}

      protected override row(key: string): Row | undefined {
        const row = this.server.rows.get(key)
        return row !== undefined && row.until > this.now() ? row : undefined
      }
    },
  ),
  storeMutant(
    'lapsed-keep-row',
    { wrong: 'keeps a lapsed claim until its id is claimed again', caughtBy: 'store.cleanup' },
    class extends SmallStore {
      protected override sweep(): void {
        for (const [key, { until, fingerprint }] of this.server.rows) {
          if (until <= this.now() && fingerprint !== undefined) this.server.rows.delete(key)
        }
      }

      protected override row(key: string): Row | undefined {
        const row = super.row(key)
        return row !== undefined && row.until > this.now() ? row : undefined
      }

      protected override claims(): number {
        return [...this.server.rows.values()].filter(
          ({ fingerprint, until }) => fingerprint === undefined && until > this.now(),
        ).length
      }
    },
  ),
]
