import { done, expectAnswer, expectOutcome, lease, letLeaseExpire } from '../claims.ts'
import type { StoreCase } from '../target.ts'

/** Cases for stores with a limit. */
export const capacityCases: readonly StoreCase[] = [
  {
    id: 'store.full',
    name: 'a claim beyond the limit is refused, and evicts no claim in flight',
    needs: ['openSmall'],
    async run({ first }) {
      await expectOutcome(first.claim('one', 'a', lease), 'claimed', 'the first claim')
      await expectOutcome(first.claim('two', 'b', lease), 'claimed', 'the second claim')
      await expectOutcome(first.claim('three', 'c', lease), 'full', 'a claim beyond the limit')
      await expectOutcome(first.claim('one', 'a', lease), 'claimed', 'the first claim repeated')
      await expectOutcome(first.claim('two', 'x', lease), 'in_flight', 'another owner on the second')
      await expectAnswer(first.release('two', 'b'), true, 'release of the second')
      await expectOutcome(first.claim('three', 'c', lease), 'claimed', 'a claim once there is room again')
    },
  },
  {
    id: 'store.full.completed',
    name: 'completed ids do not count against the limit on claims',
    needs: ['openSmall'],
    async run({ first, second }) {
      for (const id of ['one', 'two', 'three', 'four', 'five']) {
        await expectOutcome(first.claim(id, 'a', lease), 'claimed', `a claim of ${id}`)
        await first.complete(id, 'a', done)
      }
      await expectOutcome(second.claim('six', 'b', lease), 'claimed', 'a claim after five completed ids')
      await expectOutcome(second.claim('seven', 'b', lease), 'claimed', 'a second claim')
    },
  },
  {
    id: 'store.full.lapsed',
    name: 'a claim whose lease has expired does not count, even if its id is never claimed again',
    needs: ['openSmall'],
    async run({ first, second }) {
      for (const id of ['one', 'two', 'three', 'four']) await letLeaseExpire(first, id, 'late', 'release')
      await expectOutcome(second.claim('five', 'b', lease), 'claimed', 'a claim after four lapsed ones')
      await expectOutcome(second.claim('six', 'b', lease), 'claimed', 'a second claim')
    },
  },
]
