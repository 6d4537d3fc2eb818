import type { Claim } from '@ackhook/core/spi'
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

/** Returns fingerprints of which each shares one byte with the given one: a store that keeps only that byte shows. */
function unlike(fingerprint: number): number[] {
  const others: number[] = []
  for (const shift of [0, 8, 16, 24])
    for (let i = 1; i <= 4; i++) others.push(fingerprint ^ (Math.imul(0x01010101, 53 * i) & ~(0xff << shift)))
  return others
}

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
    name: 'a completed id is completed for the same fingerprint, whatever its size and sign',
    async run({ first, second }) {
      for (const fingerprint of [0, 1, 9999, 10_000, -1, 2_147_483_647, -2_147_483_648]) {
        const id = `id${fingerprint}`
        const same = { ...lease, fingerprint }
        await first.claim(id, 'mine', same)
        await first.complete(id, 'mine', { ...done, fingerprint })
        await expectOutcome(second.claim(id, 'theirs', same), 'completed', `fingerprint ${fingerprint}`)
      }
    },
  },
  {
    id: 'store.claim.conflict',
    name: 'a completed id conflicts with another fingerprint, and stays completed for its own; a lease has none',
    async run({ first, second }) {
      const fingerprint = 0x1e3779b9
      const own = { ...lease, fingerprint }
      const others = unlike(fingerprint).map(other => ({ ...lease, fingerprint: other }))
      await first.claim('id', 'mine', own)
      for (const other of others)
        await expectOutcome(second.claim('id', 'theirs', other), 'in_flight', 'another body of a leased id')
      await first.complete('id', 'mine', { ...done, fingerprint })
      const answers: Claim[] = []
      for (const [i, other] of others.entries())
        answers.push(await second.claim('id', i % 2 === 0 ? 'mine' : 'theirs', other))
      const missed = answers.filter(({ outcome }) => outcome !== 'conflict')
      // A store may keep a part of the fingerprint, and one value of its 10,000 is the same.
      expectThat(
        missed.length <= 1,
        `of ${others.length} other bodies, ${missed.length} are no conflict: ${JSON.stringify(missed[0])}`,
      )
      await expectOutcome(second.claim('id', 'theirs', own), 'completed', 'the first body again')
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
      await first.claim('kept', 'mine', { ...lease, leaseMs: 20 })
      await first.complete('kept', 'mine', done)
      const begun = performance.now()
      await first.claim('id', 'mine', lease)
      await first.complete('id', 'mine', { ...done, retentionMs: 150 })
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
    id: 'store.lookup',
    name: 'a lookup, if the store has one, tells a handled id with its time left, a claim and a free id, and changes none',
    async run({ first, second }) {
      if (second.lookup === undefined) return
      const look = async (key: string) => (await second.lookup!(key)).state
      const counted = { ...lease, countForMs: 60_000 }
      expectThat((await look('id')) === 'unknown', 'an id that was never claimed is unknown')
      await letLeaseExpire(first, 'lapsed', 'mine')
      expectThat((await look('lapsed')) === 'unknown', 'an id whose lease is over is unknown')
      await expectOutcome(first.claim('id', 'mine', counted), 'claimed', 'a claim after the lookup')
      expectThat((await look('id')) === 'claimed', 'a leased id is claimed')
      await expectAnswer(
        first.release('id', 'mine', { lapses: 1, attempts: 2, countForMs: 60_000 }),
        true,
        'release',
      )
      expectThat((await look('id')) === 'unknown', 'a released id is unknown')
      const { runs } = (await first.claim('id', 'mine', counted)) as { runs?: { attempts: number } }
      expectThat(runs?.attempts === 2, `a lookup leaves the count of runs: ${JSON.stringify(runs)}`)
      await first.complete('id', 'mine', done)
      const handled = await second.lookup('id')
      expectThat(
        handled.state === 'handled' &&
          handled.leftMs > done.retentionMs - 30_000 &&
          handled.leftMs <= done.retentionMs + 1000,
        `a handled id, with the time left: ${JSON.stringify(handled)}`,
      )
      await expectOutcome(first.claim('id', 'mine', lease), 'completed', 'a claim of the handled id')
      await first.forget('id')
      expectThat((await look('id')) === 'unknown', 'a forgotten id is unknown')
    },
  },
  {
    id: 'store.stale-owner',
    name: 'an owner whose lease has expired and was taken cannot extend, complete or release it',
    async run({ first, second }) {
      await first.claim('id', 'stale', { ...lease, leaseMs: 30 })
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
