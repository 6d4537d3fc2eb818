import type { KeptRuns, RunCount } from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import { type Completion, type Lease, SmallStore } from './small-store.ts'
import { storeMutant } from './store-mutant.ts'

/** Stores that count runs incorrectly. */
export const mutants: Mutants = [
  storeMutant(
    'runs-not-counted',
    { wrong: 'counts no run, as stores did before', caughtBy: 'store.runs.first' },
    class extends SmallStore {
      override readonly countsRuns = false
      override async claim(key: string, token: string, { leaseMs, fingerprint }: Lease) {
        return super.claim(key, token, { leaseMs, fingerprint })
      }
    },
  ),
  storeMutant(
    'runs-forgotten-with-lease',
    { wrong: 'forgets the count when the lease expires', caughtBy: 'store.runs.lapse' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        return super.claim(key, token, {
          ...options,
          ...(options.countForMs !== undefined && { countForMs: 0 }),
        })
      }
    },
  ),
  storeMutant(
    'runs-stop-at-one',
    { wrong: 'counts only one lapse', caughtBy: 'store.runs.lapse' },
    class extends SmallStore {
      protected override runsBefore(key: string, isSame: boolean): RunCount {
        const { lapses, attempts } = super.runsBefore(key, isSame)
        return { lapses: Math.min(1, lapses), attempts }
      }
    },
  ),
  storeMutant(
    'runs-count-repeats',
    { wrong: 'counts a repeated claim as a lapse', caughtBy: 'store.runs.same-token' },
    class extends SmallStore {
      protected override runsBefore(key: string): RunCount {
        return super.runsBefore(key, false)
      }
    },
  ),
  storeMutant(
    'runs-released-lapse',
    { wrong: 'counts a released run as a lapse', caughtBy: 'store.runs.kept' },
    class extends SmallStore {
      protected override keep(key: string, kept: KeptRuns | undefined): void {
        super.keep(key, kept && { ...kept, lapses: kept.lapses + 1 })
      }
    },
  ),
  storeMutant(
    'runs-kept-by-anyone',
    { wrong: 'keeps the count of a release by another owner', caughtBy: 'store.runs.kept' },
    class extends SmallStore {
      override async release(key: string, token: string, kept?: KeptRuns): Promise<boolean> {
        this.keep(key, kept)
        return super.release(key, token, kept)
      }
    },
  ),
  storeMutant(
    'runs-ignore-kept',
    { wrong: 'ignores the count given to a release', caughtBy: 'store.runs.kept' },
    class extends SmallStore {
      protected override keep(key: string): void {
        super.keep(key, undefined)
      }
    },
  ),
  storeMutant(
    'runs-survive-release',
    { wrong: 'keeps the count of a release without one', caughtBy: 'store.runs.kept' },
    class extends SmallStore {
      protected override keep(key: string, kept: KeptRuns | undefined): void {
        if (kept !== undefined) super.keep(key, kept)
      }
    },
  ),
  storeMutant(
    'runs-forever',
    { wrong: 'never forgets a count', caughtBy: 'store.runs.expire' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        return super.claim(key, token, {
          ...options,
          ...(options.countForMs !== undefined && { countForMs: 1e9 }),
        })
      }
    },
  ),
  storeMutant(
    'runs-survive-completion',
    { wrong: 'keeps the count of a handled id', caughtBy: 'store.runs.ends' },
    class extends SmallStore {
      override async complete(key: string, token: string, options: Completion): Promise<boolean> {
        const found = this.server.counts.get(key)
        const isDone = await super.complete(key, token, options)
        if (found !== undefined) this.server.counts.set(key, found)
        return isDone
      }
    },
  ),
  storeMutant(
    'runs-survive-plain-claim',
    { wrong: 'keeps the count after a claim without one', caughtBy: 'store.runs.ends' },
    class extends SmallStore {
      override async claim(key: string, token: string, options: Lease) {
        const found = this.server.counts.get(key)
        const claim = await super.claim(key, token, options)
        if (found !== undefined && options.countForMs === undefined) this.server.counts.set(key, found)
        return claim
      }
    },
  ),
]
