import { clearTimeout, setTimeout } from 'node:timers'
import type { DedupeStore, MaybePromise } from '@ackhook/core'
import { expectThat } from '../../lib/expect.ts'
import type { TargetCase } from '../../lib/suite-case.ts'
import { done, expectAnswer, expectOutcome, LEASE_MS, lease } from '../claims.ts'
import type { FailingStoreTarget } from '../target.ts'

/** Cases for stores whose server can be made to fail. */
export const failureCases: readonly TargetCase<FailingStoreTarget>[] = [
  {
    id: 'store.failure.rejects',
    name: 'every method fails when the server does: no result is made up',
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
      const answers = await Promise.all(
        Object.entries(calls).map(async ([name, call]) => {
          return [name, await outcomeOf(first, () => call(first))] as const
        }),
      )
      // The server may be shared with the next case.
      await fail(false)
      for (const [name, answer] of answers) {
        expectThat(answer === FAILED, `${name} returned ${JSON.stringify(answer)} although the server failed`)
      }
    },
  },
  {
    id: 'store.failure.recovers',
    name: 'after a failure, the store continues with the data it had',
    needs: ['openFailing'],
    async run({ first, second, fail }) {
      await first.claim('id', 'mine', lease)
      await fail(true)
      await outcomeOf(first, () => first.complete('id', 'mine', done))
      await fail(false)
      // The server may apply the completion even though it reported a failure.
      const claim = await once(() => second.claim('id', 'theirs', lease))
      expectThat(
        claim.outcome === 'in_flight' || claim.outcome === 'completed',
        `a claim after the failure: ${JSON.stringify(claim)}`,
      )
      await expectAnswer(await once(() => first.complete('id', 'mine', done)), true, 'complete afterwards')
      await expectOutcome(second.claim('id', 'theirs', lease), 'completed', 'a claim afterwards')
    },
  },
]

const RECOVERY_MS = 10_000
/** Somewhat longer than the inbox waits. */
const DEADLINE_MS = 1500
const FAILED = Symbol('failed')

/** A call without an answer has failed as well: the inbox puts a deadline on a store that has none of its own. */
async function outcomeOf({ bounded }: DedupeStore, call: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<unknown>(resolve => {
    if (bounded !== true) timer = setTimeout(() => resolve(FAILED), DEADLINE_MS)
  })
  try {
    return await Promise.race([call(), deadline])
  } catch {
    return FAILED
  } finally {
    clearTimeout(timer)
  }
}

/** Repeats a call until the store works again, since a client may take a moment to notice. */
async function once<T>(call: () => MaybePromise<T>): Promise<T> {
  const begun = performance.now()
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (performance.now() - begun > RECOVERY_MS) throw error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}
