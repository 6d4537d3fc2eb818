import type { DedupeStore } from '@ackhook/core'
import { expectThat } from '../../lib/expect.ts'
import {
  claimWhenFree,
  done,
  expectAnswer,
  expectOutcome,
  LEASE_MS,
  lease,
  letLeaseExpire,
} from '../claims.ts'
import type { StoreCase } from '../target.ts'

const HOUR_MS = 3_600_000

/** Cases about the duration of leases and retentions, and the clock that measures it. */
export const timeCases: readonly StoreCase[] = [
  {
    id: 'store.lapse.owner',
    name: 'an owner whose lease has expired can neither extend nor release it, even if no other owner took it',
    async run({ first, second }) {
      await letLeaseExpire(first, 'id', 'late')
      await expectAnswer(first.extend('id', 'late', LEASE_MS), false, 'extend after the lease')
      await expectOutcome(second.claim('id', 'new', lease), 'claimed', 'a claim afterwards')
      await letLeaseExpire(first, 'other', 'late')
      await expectAnswer(first.release('other', 'late'), false, 'release after the lease')
    },
  },
  {
    id: 'store.extend.shortens',
    name: 'an extension counts from now: it neither adds to the lease nor is ignored when it is shorter',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      await expectAnswer(first.extend('id', 'mine', 20_000), true, 'extend')
      const { retryAfterMs } = await inFlight(second, 'id')
      expectThat(
        retryAfterMs > 10_000 && retryAfterMs <= 20_000,
        `after an extension to 20 s, ${retryAfterMs} ms are left`,
      )
      await first.extend('id', 'mine', 60)
      await claimWhenFree(second, 'id', 'theirs')
    },
  },
  {
    id: 'store.time.exact',
    name: 'leases and retentions last as long as requested: not a tenth less, not a half more',
    timeLimitMs: 60_000,
    async run({ first, second }) {
      for (const ms of [400, 1200]) {
        await expectLasts(ms, `a lease of ${ms} ms`, async key => {
          await first.claim(key, 'mine', { ...lease, leaseMs: ms })
          return second
        })
        await expectLasts(ms, `a retention of ${ms} ms`, async key => {
          await first.claim(key, 'mine', lease)
          await first.complete(key, 'mine', { ...done, retentionMs: ms })
          return second
        })
      }
    },
  },
  {
    id: 'store.time.units',
    name: 'the time left on a lease is a number of milliseconds, whatever its length',
    async run({ first, second }) {
      for (const leaseMs of [900, 61_000, HOUR_MS]) {
        const key = `lease-${leaseMs}`
        const begun = performance.now()
        await first.claim(key, 'mine', { ...lease, leaseMs })
        const { retryAfterMs } = await inFlight(second, key)
        const least = leaseMs - 800 - (performance.now() - begun)
        expectThat(
          typeof retryAfterMs === 'number' && retryAfterMs > least && retryAfterMs <= leaseMs,
          `retryAfterMs is ${JSON.stringify(retryAfterMs)} of ${leaseMs}`,
        )
      }
    },
  },
  {
    id: 'store.time.client-clock',
    name: "a client's wrong clock does not end a lease early, prolong it, or forget an id",
    async run({ first, second }) {
      const [behind, ahead] = [skewed(second, -HOUR_MS), skewed(second, HOUR_MS)]
      await first.claim('id', 'mine', lease)
      await expectOutcome(ahead.claim('id', 'theirs', lease), 'in_flight', 'a client an hour ahead')
      await expectAnswer(ahead.extend('id', 'theirs', LEASE_MS), false, 'extend by that client')
      await first.complete('id', 'mine', done)
      await expectOutcome(ahead.claim('id', 'theirs', lease), 'completed', 'a handled id, an hour ahead')
      await ahead.claim('short', 'mine', { ...lease, leaseMs: 100 })
      await claimWhenFree(first, 'short', 'theirs')
      await behind.claim('held', 'mine', lease)
      await expectOutcome(first.claim('held', 'theirs', lease), 'in_flight', "an hour-behind client's lease")
      await behind.complete('held', 'mine', done)
      await expectOutcome(first.claim('held', 'theirs', lease), 'completed', 'an id that client completed')
    },
  },
  {
    id: 'store.views',
    name: 'the second view replies at once while the first one is in use, and one id does not delay another',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      const took: number[] = []
      // A store that waits does so each time; a busy machine does not.
      for (const free of ['one', 'two', 'three']) {
        const begun = performance.now()
        await expectOutcome(second.claim('id', 'theirs', lease), 'in_flight', 'the claimed id')
        await expectOutcome(second.claim(free, 'theirs', lease), 'claimed', 'another id')
        took.push(performance.now() - begun)
      }
      const tookMs = Math.min(...took)
      expectThat(tookMs < 1000, `two claims took ${tookMs.toFixed()} ms while another id was leased`)
    },
  },
]

async function inFlight(store: DedupeStore, key: string): Promise<{ retryAfterMs: number }> {
  const claim = await store.claim(key, 'theirs', lease)
  expectThat(claim.outcome === 'in_flight', `${key}: expected 'in_flight', got ${JSON.stringify(claim)}`)
  return claim
}

async function expectLasts(
  ms: number,
  what: string,
  take: (key: string) => Promise<DedupeStore>,
): Promise<void> {
  const lasted = await Promise.all(
    [0, 1, 2].map(async index => {
      const key = `${what}-${index}`
      const begun = performance.now()
      const store = await take(key)
      const taken = performance.now()
      const stillTakenAt = await claimWhenFree(store, key, 'theirs')
      // Two bounds that hold even if the machine stops in between: each only errs in the store's favor.
      return { atMost: performance.now() - begun, atLeast: stillTakenAt - taken }
    }),
  )
  const early = Math.min(...lasted.map(({ atMost }) => atMost))
  const late = Math.min(...lasted.map(({ atLeast }) => atLeast))
  expectThat(early >= ms * 0.98 - 2, `${what} ended after ${early.toFixed()} ms`)
  expectThat(late <= ms * 1.5, `${what} had not ended after ${late.toFixed()} ms`)
}

/** The store as seen by a process whose wall clock is wrong. */
function skewed(store: DedupeStore, offsetMs: number): Pick<DedupeStore, 'claim' | 'extend' | 'complete'> {
  // Changes the clock only during the call: other work in this process keeps its clock.
  const withClock = <T>(call: () => T): T => {
    const { now } = Date
    Date.now = () => now.call(Date) + offsetMs
    try {
      return call()
    } finally {
      Date.now = now
    }
  }
  return {
    claim: (key, token, options) => withClock(() => store.claim(key, token, options)),
    extend: (key, token, leaseMs) => withClock(() => store.extend(key, token, leaseMs)),
    complete: (key, token, options) => withClock(() => store.complete(key, token, options)),
  }
}
