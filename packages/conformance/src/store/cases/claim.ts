import { expectThat } from '../../lib/expect.ts'
import { claimWhenFree, done, expectAnswer, expectOutcome, LEASE_MS, lease } from '../claims.ts'
import type { StoreCase } from '../target.ts'

export const claimCases: readonly StoreCase[] = [
  {
    id: 'store.claim.free',
    name: 'a free id is claimed',
    async run({ first }) {
      await expectOutcome(first.claim('id', 'token', lease), 'claimed', 'a free id')
    },
  },
  {
    id: 'store.claim.in-flight',
    name: 'an id claimed by another owner is in flight, for at most its lease',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      const answer = await expectOutcome(second.claim('id', 'theirs', lease), 'in_flight', 'a claimed id')
      const left = answer.outcome === 'in_flight' ? answer.retryAfterMs : Number.NaN
      expectThat(left > LEASE_MS / 2 && left <= LEASE_MS, `retryAfterMs is ${left} of ${LEASE_MS}`)
    },
  },
  {
    id: 'store.claim.own-token',
    name: 'a claim sent twice with one token succeeds both times',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      await expectOutcome(second.claim('id', 'mine', lease), 'claimed', "the owner's claim repeated")
      await expectOutcome(first.claim('id', 'theirs', lease), 'in_flight', 'another owner afterwards')
    },
  },
  {
    id: 'store.claim.race',
    name: 'of 100 racing claims on each of 20 ids, exactly one wins',
    async run({ first, second }) {
      for (let round = 0; round < 20; round++) {
        const racers = Array.from({ length: 100 }, (_, i) =>
          (i % 2 === 0 ? first : second).claim(`id-${round}`, `token-${i}`, lease),
        )
        const answers = await Promise.all(racers)
        const winners = answers.filter(({ outcome }) => outcome === 'claimed').length
        expectThat(winners === 1, `round ${round}: ${winners} winners`)
        const losers = answers.filter(({ outcome }) => outcome === 'in_flight').length
        expectThat(losers === 99, `round ${round}: ${losers} of 99 others got 'in_flight'`)
      }
    },
  },
  {
    id: 'store.claim.many',
    name: 'each of 300 concurrent claims gets its own result',
    async run({ first, second }) {
      const ids = Array.from({ length: 300 }, (_, i) => `id-${i}`)
      const taken = ids.filter((_, i) => i % 3 === 0)
      await Promise.all(taken.map(id => first.claim(id, 'mine', lease)))
      const answers = await Promise.all(ids.map(id => second.claim(id, 'theirs', lease)))
      for (const [i, { outcome }] of answers.entries()) {
        const expected = i % 3 === 0 ? 'in_flight' : 'claimed'
        expectThat(outcome === expected, `${ids[i]}: expected '${expected}', got '${outcome}'`)
      }
    },
  },
  {
    id: 'store.claim.lapse',
    name: 'a lease expires on its own, and not early',
    async run({ first, second }) {
      const begun = performance.now()
      await first.claim('id', 'mine', { ...lease, leaseMs: 150 })
      await claimWhenFree(second, 'id', 'theirs')
      const heldMs = performance.now() - begun
      expectThat(heldMs >= 145, `a lease of 150 ms expired after ${heldMs} ms`)
    },
  },
  {
    id: 'store.claim.independent',
    name: 'ids that differ in one character are independent',
    async run({ first }) {
      const ids = [
        'AAAAAAAAAAAAAAAAAAAAAA',
        'AAAAAAAAAAAAAAAAAAAAAa',
        '-_AAAAAAAAAAAAAAAAAAAA',
        '__AAAAAAAAAAAAAAAAAAAA',
      ]
      for (const id of ids) await expectOutcome(first.claim(id, 'token', lease), 'claimed', id)
      await first.complete(ids[0]!, 'token', done)
      await expectOutcome(first.claim(ids[1]!, 'other', lease), 'in_flight', 'the neighbor of a handled id')
    },
  },
  {
    id: 'store.claim.token-is-data',
    name: 'a token can be any text',
    async run({ first, second }) {
      const tokens = ['1', 'd1', 't', 'p', 'nil', 'ü', "'; return 1 --", '%s %1', `${'x'.repeat(36)}:zz`]
      for (const [i, token] of tokens.entries()) {
        const id = `id-${i}`
        await expectOutcome(first.claim(id, token, lease), 'claimed', `token ${token}`)
        await expectOutcome(second.claim(id, `${token}2`, lease), 'in_flight', `token ${token}2`)
        await expectAnswer(second.release(id, `${token}2`), false, `release with ${token}2`)
        await expectAnswer(first.release(id, token), true, `release with ${token}`)
      }
    },
  },
  {
    id: 'store.extend.renews',
    name: 'the owner renews the lease',
    async run({ first, second }) {
      await first.claim('id', 'mine', { ...lease, leaseMs: 10_000 })
      await expectAnswer(second.extend('id', 'mine', LEASE_MS), true, 'extend by the owner')
      const answer = await first.claim('id', 'theirs', lease)
      expectThat(
        answer.outcome === 'in_flight' && answer.retryAfterMs > 10_000,
        `a claim afterwards: ${JSON.stringify(answer)}`,
      )
    },
  },
  {
    id: 'store.extend.free',
    name: 'the lease of a free id cannot be extended, and the attempt does not claim the id',
    async run({ first }) {
      await expectAnswer(first.extend('id', 'mine', LEASE_MS), false, 'extend of a free id')
      await expectOutcome(first.claim('id', 'theirs', lease), 'claimed', 'a claim afterwards')
    },
  },
  {
    id: 'store.release.frees',
    name: 'a released id can be claimed immediately, and is released only once',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      await expectAnswer(first.release('id', 'mine'), true, 'release by the owner')
      await expectAnswer(first.release('id', 'mine'), false, 'the same again')
      await expectOutcome(second.claim('id', 'theirs', lease), 'claimed', 'a claim afterwards')
    },
  },
]
