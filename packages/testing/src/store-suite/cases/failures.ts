import type { DedupeStore } from '@ackhook/core'
import type { TargetCase } from '../../lib/suite-case.ts'
import { assert, expectAnswer, expectOutcome, LEASE_MS, RETENTION_MS } from '../expect.ts'
import type { FailingStoreTarget } from '../target.ts'

const lease = { leaseMs: LEASE_MS }
const done = { retentionMs: RETENTION_MS, fingerprint: 1 }

/** For stores whose server can be made to fail. */
export const failureCases: readonly TargetCase<FailingStoreTarget>[] = [
  {
    id: 'store.failure.rejects',
    name: 'every method fails when the server does: no answer is made up',
    needs: ['openFailing'],
    async run({ first, fail }) {
      await first.claim('id', 'mine', lease)
      await fail(true)
      const calls: Readonly<Record<string, (store: DedupeStore) => unknown>> = {
        claim: store => store.claim('other', 'mine', lease),
        extend: store => store.extend('id', 'mine', LEASE_MS),
        complete: store => store.complete('id', 'mine', done),
        release: store => store.release('id', 'mine'),
        forget: store => store.forget('id'),
      }
      for (const [name, call] of Object.entries(calls)) {
        const answer = await outcomeOf(() => call(first))
        assert(answer === FAILED, `${name} answered ${JSON.stringify(answer)} though the server failed`)
      }
    },
  },
  {
    id: 'store.failure.recovers',
    name: 'after a failure the store goes on with what it had',
    needs: ['openFailing'],
    async run({ first, second, fail }) {
      await first.claim('id', 'mine', lease)
      await fail(true)
      await outcomeOf(() => first.complete('id', 'mine', done))
      await fail(false)
      await expectOutcome(second.claim('id', 'theirs', lease), 'in_flight', 'the id that was claimed before')
      await expectAnswer(first.complete('id', 'mine', done), true, 'complete afterwards')
      await expectOutcome(second.claim('id', 'theirs', lease), 'completed', 'a claim after it')
    },
  },
]

const FAILED = Symbol('failed')

async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    return await call()
  } catch {
    return FAILED
  }
}
