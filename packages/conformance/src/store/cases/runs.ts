import type { DedupeStore } from '@ackhook/core'
import type { RunCount } from '@ackhook/core/spi'
import { expectThat } from '../../lib/expect.ts'
import { claimWhenFree, done, expectAnswer, expectOutcome, LEASE_MS, lease } from '../claims.ts'
import type { StoreCase } from '../target.ts'

/** Count that outlives the case. */
const countForMs = 60_000
const counted = { ...lease, countForMs }
const brief = { ...counted, leaseMs: 40 }
const NONE = '0 lapses, 0 attempts'

export const runCases: readonly StoreCase[] = [
  {
    id: 'store.runs.first',
    name: 'the first counted claim returns a count of zero, and the store declares that it counts',
    async run({ first }) {
      expectThat(first.countsRuns === true, 'countsRuns is not true')
      await expectRuns(first, 'id', 'mine', NONE)
      await expectOutcome(first.claim('other', 'mine', lease), 'claimed', 'a claim without a count')
    },
  },
  {
    id: 'store.runs.lapse',
    name: 'each counted lease that expires is one lapse, whichever process claims next',
    async run({ first, second }) {
      await first.claim('id', 'one', brief)
      expectThat((await claimAgain(second, 'id', 'two')) === '1 lapses, 0 attempts', 'one lease expired')
      expectThat((await claimAgain(first, 'id', 'three')) === '2 lapses, 0 attempts', 'two leases expired')
    },
  },
  {
    id: 'store.runs.same-token',
    name: 'a counted claim repeated with its token is the same run, and a refused claim is none',
    async run({ first, second }) {
      await first.claim('id', 'one', brief)
      await claimAgain(first, 'id', 'mine', LEASE_MS)
      await expectRuns(second, 'id', 'mine', '1 lapses, 0 attempts')
      await expectOutcome(second.claim('id', 'theirs', counted), 'in_flight', 'another owner')
      await expectRuns(first, 'id', 'mine', '1 lapses, 0 attempts')
      await expectAnswer(first.release('id', 'mine'), true, 'release')
    },
  },
  {
    id: 'store.runs.extend',
    name: 'an extended lease does not lapse, and keeps its count',
    async run({ first, second }) {
      await first.claim('id', 'mine', { ...counted, leaseMs: 10_000 })
      await expectAnswer(second.extend('id', 'mine', LEASE_MS), true, 'extend')
      const claim = await expectOutcome(
        second.claim('id', 'theirs', counted),
        'in_flight',
        'the extended lease',
      )
      const left = claim.outcome === 'in_flight' ? claim.retryAfterMs : Number.NaN
      expectThat(left > 10_000 && left <= LEASE_MS, `retryAfterMs is ${left} of ${LEASE_MS}`)
      await expectRuns(first, 'id', 'mine', NONE)
      await expectAnswer(first.extend('id', 'mine', 30), true, 'a short extension')
      expectThat(
        (await claimAgain(second, 'id', 'theirs')) === '1 lapses, 0 attempts',
        'the extension expired',
      )
    },
  },
  {
    id: 'store.runs.kept',
    name: 'a release keeps the count that it is given, for the next counted claim',
    async run({ first, second }) {
      await first.claim('id', 'mine', counted)
      const kept = { lapses: 2, attempts: 3, countForMs }
      await expectAnswer(
        second.release('id', 'theirs', { ...kept, attempts: 9 }),
        false,
        'release by another',
      )
      await expectAnswer(first.release('id', 'mine', kept), true, 'release by the owner')
      await expectAnswer(first.release('id', 'mine', { ...kept, attempts: 9 }), false, 'the same again')
      await expectAnswer(first.extend('id', 'mine', LEASE_MS), false, 'extend afterwards')
      await expectAnswer(first.forget('id'), false, 'forget of a key that is not completed')
      await expectRuns(second, 'id', 'theirs', '2 lapses, 3 attempts')
      await expectAnswer(second.release('id', 'theirs'), true, 'release without a count')
      await expectRuns(first, 'id', 'mine', NONE)
    },
  },
  {
    id: 'store.runs.expire',
    name: 'a count is kept beyond its lease for as long as asked, and no longer',
    async run({ first, second }) {
      for (const id of ['lapsed', 'kept'])
        await first.claim(id, 'mine', { ...lease, leaseMs: 30, countForMs: 60 })
      await first.release('kept', 'mine', { lapses: 1, attempts: 1, countForMs: 90 })
      await first.claim('later', 'mine', { ...lease, leaseMs: 130 })
      await claimWhenFree(second, 'later', 'theirs')
      for (const id of ['lapsed', 'kept']) await expectRuns(second, id, 'theirs', NONE)
    },
  },
  {
    id: 'store.runs.ends',
    name: 'a completion ends the count, and so does a claim without one',
    async run({ first, second }) {
      const kept = { lapses: 1, attempts: 1, countForMs }
      for (const id of ['done', 'plain']) {
        await first.claim(id, 'mine', counted)
        await first.release(id, 'mine', kept)
      }
      await first.claim('done', 'mine', counted)
      await first.claim('plain', 'mine', { ...lease, leaseMs: 20 })
      await expectAnswer(second.complete('done', 'theirs', done), false, 'complete by another')
      await expectAnswer(first.complete('done', 'mine', done), true, 'complete by the owner')
      await expectOutcome(second.claim('done', 'theirs', counted), 'completed', 'a completed id')
      await expectAnswer(first.forget('done'), true, 'forget')
      await expectRuns(second, 'done', 'theirs', NONE)
      expectThat((await claimAgain(second, 'plain', 'theirs')) === NONE, 'the claim without a count expired')
    },
  },
  {
    id: 'store.runs.token-is-data',
    name: 'a token can look like a count',
    async run({ first, second }) {
      const tokens = ['#1:2:3:mine', '-1:2', '\\#', '#', '-', '', '0', '1:2:3:mine']
      for (const [i, token] of tokens.entries()) {
        for (const [id, options] of [
          [`plain-${i}`, lease],
          [`counted-${i}`, counted],
        ] as const) {
          await expectOutcome(first.claim(id, token, options), 'claimed', `token ${token}`)
          await expectOutcome(second.claim(id, `${token}2`, options), 'in_flight', `token ${token}2`)
          await expectOutcome(second.claim(id, token, options), 'claimed', `token ${token} again`)
          await expectAnswer(second.extend(id, token, LEASE_MS), true, `extend with ${token}`)
          await expectAnswer(second.release(id, `${token}2`), false, `release with ${token}2`)
          await expectAnswer(first.release(id, token), true, `release with ${token}`)
        }
      }
    },
  },
]

async function expectRuns(store: DedupeStore, key: string, token: string, expected: string): Promise<void> {
  const claim = await expectOutcome(store.claim(key, token, counted), 'claimed', `a counted claim of ${key}`)
  const runs = textOf(claim.outcome === 'claimed' ? claim.runs : undefined)
  expectThat(runs === expected, `${key}: expected ${expected}, got ${runs}`)
}

/** Claims a key once its lease has expired. Returns the count. */
async function claimAgain(
  store: DedupeStore,
  key: string,
  token: string,
  leaseMs: number = brief.leaseMs,
): Promise<string> {
  const begun = performance.now()
  for (;;) {
    const claim = await store.claim(key, token, { ...counted, leaseMs })
    if (claim.outcome === 'claimed') return textOf(claim.runs)
    expectThat(performance.now() - begun < 10_000, `'${key}' is still taken after 10 seconds`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

function textOf(runs: RunCount | undefined): string {
  return runs === undefined ? 'no count' : `${runs.lapses} lapses, ${runs.attempts} attempts`
}
