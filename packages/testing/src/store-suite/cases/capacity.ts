import { expectAnswer, expectOutcome, LEASE_MS } from '../expect.ts'
import type { StoreCase } from '../target.ts'

const lease = { leaseMs: LEASE_MS }

/** For stores that can be limited. */
export const capacityCases: readonly StoreCase[] = [
  {
    id: 'store.full',
    name: 'a claim without room is refused, and no claim in flight is evicted for it',
    needs: ['openSmall'],
    async run({ first }) {
      await expectOutcome(first.claim('one', 'a', lease), 'claimed', 'the first claim')
      await expectOutcome(first.claim('two', 'b', lease), 'claimed', 'the second claim')
      await expectOutcome(first.claim('three', 'c', lease), 'full', 'a claim beyond the room')
      await expectOutcome(first.claim('one', 'a', lease), 'claimed', 'the first claim sent again')
      await expectOutcome(first.claim('two', 'x', lease), 'in_flight', 'another owner on the second')
      await expectAnswer(first.release('two', 'b'), true, 'release of the second')
      await expectOutcome(first.claim('three', 'c', lease), 'claimed', 'a claim when there is room again')
    },
  },
]
