import type { Mutants } from '../mutant.ts'
import { type Completion, type Lease, type Row, type Server, SmallStore } from './small-store.ts'
import { storeMutant } from './store-mutant.ts'

function withRetention(change: (ms: number) => number) {
  return class extends SmallStore {
    override async complete(key: string, token: string, options: Completion): Promise<boolean> {
      return super.complete(key, token, { ...options, retentionMs: change(options.retentionMs) })
    }
  }
}

function withLease(change: (ms: number) => number) {
  return class extends SmallStore {
    override async claim(key: string, token: string, options: Lease) {
      return super.claim(key, token, { ...options, leaseMs: change(options.leaseMs) })
    }
  }
}

function withLeft(change: (ms: number) => unknown) {
  return class extends SmallStore {
    protected override left(row: Row): number {
      // A driver may return another type than it declares.
      return change(super.left(row)) as number
    }
  }
}

const EXACT = 'store.time.exact'

/** Stores that handle time incorrectly. */
export const mutants: Mutants = [
  storeMutant(
    'half-retention',
    { wrong: 'forgets ids after half of the retention', caughtBy: EXACT },
    withRetention(ms => ms / 2),
  ),
  storeMutant(
    'early-retention',
    { wrong: 'forgets ids 5 % early', caughtBy: EXACT },
    withRetention(ms => ms * 0.95),
  ),
  storeMutant(
    'long-retention',
    { wrong: 'remembers ids ten times as long', caughtBy: EXACT },
    withRetention(ms => ms * 10),
  ),
  storeMutant(
    'double-retention',
    { wrong: 'remembers ids twice as long', caughtBy: EXACT },
    withRetention(ms => ms * 2),
  ),
  storeMutant(
    'retention-in-seconds',
    { wrong: 'treats the milliseconds of a retention as seconds', caughtBy: 'store.complete.retention' },
    withRetention(ms => ms * 1000),
  ),
  storeMutant(
    'retention-ignored',
    { wrong: 'remembers each id for an hour', caughtBy: 'store.complete.retention' },
    withRetention(() => 3_600_000),
  ),
  storeMutant(
    'retention-whole-seconds',
    { wrong: 'rounds a retention up to whole seconds', caughtBy: EXACT },
    withRetention(ms => Math.ceil(ms / 1000) * 1000),
  ),
  storeMutant(
    'retention-is-lease',
    { wrong: 'remembers a handled id only for the rest of its lease', caughtBy: 'store.complete.retention' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        const retentionMs = (this.row(key)?.until ?? this.now()) - this.now()
        return super.complete(key, token, { ...options, retentionMs })
      }
    },
  ),
  storeMutant(
    'lease-in-seconds',
    { wrong: 'treats the milliseconds of a lease as seconds', caughtBy: 'store.claim.in-flight' },
    withLease(ms => ms * 1000),
  ),
  storeMutant(
    'lease-whole-seconds',
    { wrong: 'rounds a lease down to whole seconds', caughtBy: 'store.claim.lapse' },
    withLease(ms => Math.floor(ms / 1000) * 1000),
  ),
  storeMutant(
    'early-lease',
    { wrong: 'ends leases 5 % early', caughtBy: EXACT },
    withLease(ms => ms * 0.95),
  ),
  storeMutant(
    'double-lease',
    { wrong: 'leases twice as long', caughtBy: 'store.claim.in-flight' },
    withLease(ms => ms * 2),
  ),
  storeMutant(
    'lease-at-most-a-minute',
    { wrong: 'leases for at most a minute', caughtBy: 'store.time.units' },
    withLease(ms => Math.min(ms, 60_000)),
  ),
  storeMutant(
    'lease-at-least-a-second',
    { wrong: 'leases for at least a second', caughtBy: EXACT },
    withLease(ms => Math.max(ms, 1000)),
  ),
  storeMutant(
    'lease-forever',
    { wrong: 'never ends a lease', caughtBy: 'store.claim.lapse' },
    withLease(() => 1e12),
  ),
  storeMutant(
    'text-left',
    { wrong: 'returns retryAfterMs as text', caughtBy: 'store.time.units' },
    withLeft(String),
  ),
  storeMutant(
    'bigint-left',
    { wrong: 'returns retryAfterMs as a bigint', caughtBy: 'store.time.units' },
    withLeft(ms => BigInt(Math.floor(ms))),
  ),
  storeMutant(
    'seconds-left',
    { wrong: 'returns retryAfterMs in seconds', caughtBy: 'store.claim.in-flight' },
    withLeft(ms => ms / 1000),
  ),
  storeMutant(
    'nothing-left',
    { wrong: 'returns retryAfterMs of 0', caughtBy: 'store.claim.in-flight' },
    withLeft(() => 0),
  ),
  storeMutant(
    'deadline-left',
    { wrong: 'returns the time at which a lease ends as retryAfterMs', caughtBy: 'store.claim.in-flight' },
    class extends SmallStore {
      protected override left({ until }: Row): number {
        return Date.now() - this.now() + until
      }
    },
  ),
  storeMutant(
    'extend-adds',
    { wrong: 'adds an extension to the rest of the lease', caughtBy: 'store.extend.shortens' },
    class extends SmallStore {
      override async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
        const row = this.row(key)
        return super.extend(key, token, leaseMs + (row === undefined ? 0 : this.left(row)))
      }
    },
  ),
  storeMutant(
    'extend-never-shortens',
    { wrong: 'keeps the longer of lease and extension', caughtBy: 'store.extend.shortens' },
    class extends SmallStore {
      override async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
        const row = this.row(key)
        return super.extend(key, token, Math.max(leaseMs, row === undefined ? 0 : this.left(row)))
      }
    },
  ),
  storeMutant(
    'extend-does-nothing',
    { wrong: 'confirms an extension without changing the lease', caughtBy: 'store.extend.renews' },
    class extends SmallStore {
      override async extend(key: string, token: string): Promise<boolean> {
        return this.isMine(key, token)
      }
    },
  ),
  storeMutant(
    'client-clock',
    { wrong: "compares the clients' times", caughtBy: 'store.time.client-clock' },
    class extends SmallStore {
      protected override now(): number {
        return Date.now()
      }
    },
  ),
  storeMutant(
    'client-writes-deadline',
    {
      wrong: "writes the end of a lease by the client's clock and reads it by its own",
      caughtBy: 'store.time.client-clock',
    },
    class extends SmallStore {
      readonly #offset: number

      constructor(server: Server) {
        super(server)
        this.#offset = Date.now() - server.now()
      }

      protected override write(key: string, row: Row): void {
        const skewMs = Date.now() - this.server.now() - this.#offset
        super.write(key, { ...row, until: row.until + skewMs })
      }
    },
  ),
  storeMutant(
    'client-clock-sweeps',
    { wrong: "deletes expired rows by the client's clock", caughtBy: 'store.time.client-clock' },
    class extends SmallStore {
      readonly #offset: number

      constructor(server: Server) {
        super(server)
        this.#offset = Date.now() - server.now()
      }

      protected override sweep(): void {
        const now = Date.now() - this.#offset
        for (const [key, { until }] of this.server.rows) if (until <= now) this.server.rows.delete(key)
      }
    },
  ),
  storeMutant(
    'claim-restarts-lease-of-others',
    { wrong: 'renews the lease of an id with each refused claim', caughtBy: 'store.claim.lapse' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        const claim = await super.claim(key, token, options)
        const row = this.row(key)
        if (claim.outcome === 'in_flight' && row !== undefined)
          this.write(key, { ...row, until: this.now() + options.leaseMs })
        return claim
      }
    },
  ),
]
