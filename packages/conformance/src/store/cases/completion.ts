import { expectThat } from '../../lib/expect.ts'
import {
  claimWhenFree,
  expectAnswer,
  expectOutcome,
  LEASE_MS,
  letLeaseExpire,
  RETENTION_MS,
} from '../claims.ts'
import type { StoreCase } from '../target.ts'

const lease = { leaseMs: LEASE_MS }
const done = { retentionMs: RETENTION_MS, fingerprint: 42 }

export const completionCases: readonly StoreCase[] = [
  {
    id: 'store.complete.remembers',
    name: "a completed id is completed for every token, including its owner's",
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      await expectAnswer(first.complete('id', 'mine', done), true, 'complete by the owner')
      await expectOutcome(second.claim('id', 'theirs', lease), 'completed', 'another owner')
      await expectOutcome(first.claim('id', 'mine', lease), 'completed', 'the owner')
    },
  },
  {
    id: 'store.complete.fingerprint',
    name: 'a claim of a completed id returns the fingerprint it was completed with',
    async run({ first, second }) {
      for (const fingerprint of [0, 1, 9999, 10_000, -1, 2_147_483_647, -2_147_483_648]) {
        const id = `id${fingerprint}`
        await first.claim(id, 'mine', lease)
        await first.complete(id, 'mine', { retentionMs: RETENTION_MS, fingerprint })
        const answer = await second.claim(id, 'theirs', lease)
        expectThat(
          answer.outcome === 'completed' && answer.fingerprint === fingerprint,
          `completed with ${fingerprint}: ${JSON.stringify(answer)}`,
        )
      }
    },
  },
  {
    id: 'store.complete.twice',
    name: 'a completion sent twice succeeds both times',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      await expectAnswer(first.complete('id', 'mine', done), true, 'complete')
      await expectAnswer(second.complete('id', 'mine', done), true, 'the same again')
    },
  },
  {
    id: 'store.complete.ends-lease',
    name: "a completed id's lease can be neither extended nor released",
    async run({ first }) {
      await first.claim('id', 'mine', lease)
      await first.complete('id', 'mine', done)
      await expectAnswer(first.extend('id', 'mine', 10), false, 'extend')
      await expectAnswer(first.release('id', 'mine'), false, 'release')
      await expectOutcome(first.claim('id', 'theirs', lease), 'completed', 'a claim after both')
    },
  },
  {
    id: 'store.complete.retention',
    name: 'a completed id outlives its lease and is forgotten after its retention',
    async run({ first, second }) {
      await first.claim('kept', 'mine', { leaseMs: 20 })
      await first.complete('kept', 'mine', done)
      const begun = performance.now()
      await first.claim('id', 'mine', lease)
      await first.complete('id', 'mine', { retentionMs: 150, fingerprint: 1 })
      await claimWhenFree(second, 'id', 'theirs')
      const keptMs = performance.now() - begun
      expectThat(keptMs >= 145, `a retention of 150 ms ended after ${keptMs} ms`)
      await expectOutcome(second.claim('kept', 'theirs', lease), 'completed', 'an id with a longer retention')
    },
  },
  {
    id: 'store.complete.lapsed',
    name: 'an id completed after its lease is still remembered if no other owner took it',
    async run({ first, second }) {
      await letLeaseExpire(first, 'id', 'mine')
      await expectAnswer(first.complete('id', 'mine', done), true, 'complete after the lease')
      await expectOutcome(second.claim('id', 'theirs', lease), 'completed', 'a claim afterwards')
    },
  },
  {
    id: 'store.forget',
    name: 'a forgotten id can be claimed and completed again; a leased or unknown id is not forgotten',
    async run({ first, second }) {
      await first.claim('id', 'mine', lease)
      await expectAnswer(second.forget('id'), false, 'forget while it is leased')
      await expectOutcome(second.claim('id', 'theirs', lease), 'in_flight', 'a claim afterwards')
      await expectAnswer(first.complete('id', 'mine', done), true, 'complete by the owner')
      await expectAnswer(second.forget('id'), true, 'forget')
      await expectAnswer(second.forget('id'), false, 'forget again')
      await expectAnswer(second.forget('unknown'), false, 'forget an unknown id')
      await expectOutcome(second.claim('id', 'theirs', lease), 'claimed', 'a claim of the forgotten id')
      await expectAnswer(first.complete('id', 'mine', done), false, 'complete by the previous owner')
      await expectAnswer(second.complete('id', 'theirs', done), true, 'complete by the new owner')
      await expectOutcome(first.claim('id', 'mine', lease), 'completed', 'a claim at the end')
    },
  },
  {
    id: 'store.stale-owner',
    name: 'an owner whose lease has expired and was taken cannot extend, complete or release it',
    async run({ first, second }) {
      await first.claim('id', 'stale', { leaseMs: 30 })
      await claimWhenFree(second, 'id', 'new')
      await expectAnswer(first.extend('id', 'stale', LEASE_MS), false, 'extend')
      await expectAnswer(first.complete('id', 'stale', done), false, 'complete')
      await expectAnswer(first.release('id', 'stale'), false, 'release')
      await expectOutcome(first.claim('id', 'stale', lease), 'in_flight', 'claim')
      await expectAnswer(second.extend('id', 'new', LEASE_MS), true, 'extend by the new owner')
      await expectAnswer(second.complete('id', 'new', done), true, 'complete by the new owner')
    },
  },
]
