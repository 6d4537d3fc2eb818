import { setTimeout } from 'node:timers'
import { expectThat } from '../../lib/expect.ts'
import type { TargetCase } from '../../lib/suite-case.ts'
import { done, expectOutcome, lease } from '../claims.ts'
import type { CountedStoreTarget } from '../target.ts'

const IDS = 20
const SHORT_MS = 50
const DEADLINE_MS = 20_000

/** Cases for stores that delete expired ids. */
export const cleanupCases: readonly TargetCase<CountedStoreTarget>[] = [
  {
    id: 'store.cleanup',
    name: 'lapsed claims and forgotten ids are deleted, not only replaced when their id is claimed again',
    needs: ['openCounted'],
    timeLimitMs: 60_000,
    async run({ first, count }) {
      for (let i = 0; i < IDS; i++) {
        await first.claim(`lapsed-${i}`, 'late', { ...lease, leaseMs: SHORT_MS })
        await first.claim(`handled-${i}`, 'mine', lease)
        await first.complete(`handled-${i}`, 'mine', { ...done, retentionMs: SHORT_MS })
        await first.claim(`released-${i}`, 'mine', lease)
        await first.release(`released-${i}`, 'mine')
      }
      const begun = performance.now()
      // A store may clean up on use.
      for (let i = 0; ; i++) {
        await expectOutcome(first.claim(`probe-${i}`, 'mine', lease), 'claimed', 'another id')
        await first.release(`probe-${i}`, 'mine')
        const left = await count()
        if (left === 0) return
        expectThat(
          performance.now() - begun < DEADLINE_MS,
          `${left} of ${3 * IDS} ids are left after 20 seconds`,
        )
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    },
  },
]
