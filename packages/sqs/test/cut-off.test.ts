import { type DedupeStore, memoryStore } from '@ackhook/core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SqsServer, startSqs } from '../../../test/support/sqs.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from './start-receiver.ts'

let sqs: SqsServer
beforeAll(async () => {
  sqs = await startSqs()
})
afterAll(() => sqs.stop())

/** The way to a store, which a test can cut. */
function wayTo(shared: DedupeStore) {
  let isCut = false
  const reach = <A extends unknown[], R>(call: (...args: A) => R) =>
    ((...args: A) => (isCut ? new Promise<never>(() => {}) : call(...args))) as (...args: A) => R
  const store: DedupeStore = {
    ...shared,
    claim: reach(shared.claim),
    extend: reach(shared.extend),
    complete: reach(shared.complete),
    release: reach(shared.release),
  }
  return {
    store,
    cut(): void {
      isCut = true
    },
  }
}

it('a process that is cut off from its store withdraws its attempt before another one begins', async () => {
  const shared = memoryStore()
  const way = wayTo(shared)
  const one = await startReceiver({ sqs, inbox: { store: way.store }, options: { handlerTimeout: '10m' } })
  const { queueUrl, deadLetters } = one
  let running = 0
  let most = 0
  const handler =
    (isFirst: boolean) =>
    async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      most = Math.max(most, ++running)
      if (isFirst) await new Promise(resolve => signal.addEventListener('abort', resolve))
      running--
    }
  one.receiver.on('*', handler(true))
  await one.send('evt_1')
  await until('it runs', () => one.runs.length === 1)
  const other = await startReceiver({ sqs, inbox: { store: shared, queueUrl, deadLetters } })
  other.receiver.on('*', handler(false))
  way.cut()
  await until('it is withdrawn', () => one.kinds('lease_lost').length === 1)
  // It would take the message again, and could not claim the event.
  const closed = one.receiver.close({ timeout: '1ms' })
  await other.receiver.start()
  await until('the other one has run it', () => other.kinds('completed').length === 1)
  expect([one.runs, other.runs, most]).toEqual([['evt_1#1'], ['evt_1#2'], 1])
  expect(one.kinds('completed')).toEqual([])
  await Promise.all([closed, other.receiver.close({ timeout: '1ms' })])
}, 60_000)
