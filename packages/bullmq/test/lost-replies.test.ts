import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import {
  type ReplyDroppingProxy,
  startReplyDroppingProxy,
} from '../../../test/support/reply-dropping-proxy.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const FAILED: AttemptResult = { outcome: 'retry', delayMs: 20, error: new Error('no') }
const DEAD: AttemptResult = { outcome: 'dead', error: new Error('never'), notified: true }

// Texts that identify each engine's requests for completions and failures.
describe.each([
  ['Redis', redisEngine, { completion: 'returnvalue', failure: 'failedReason' }],
  ['PostgreSQL', postgresEngine, { completion: 'move_to_completed', failure: 'move_to_' }],
] as const)('a record on %s whose reply the network loses', (_, start, requests) => {
  let engine: TestEngine
  let proxy: ReplyDroppingProxy
  beforeAll(async () => {
    engine = await start()
    proxy = await startReplyDroppingProxy(engine.port, 0)
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await engine.stop()
  })

  /** Runs two events, one at a time. The end of the first is recorded, but its reply is lost. */
  async function runTwo(first: AttemptResult, request: string, { onTestFinished }: TestContext) {
    const inbox = engine.inbox(unique('q'), { ...engine.optionsAt(proxy.port), lease: '30s' })
    onTestFinished(async () => void (await inbox.close(1000)))
    const runs: string[] = []
    const work: ProcessEvent = async ({ id }, { number, decision }) => {
      runs.push(`${id} ${decision} ${number}`)
      if (runs.length > 1) return COMPLETED
      await inbox.accept(aDelivery({ id: 'evt_2' }))
      await until(async () => (await inbox.stats()).pending === 1)
      proxy.dropReplyTo(request)
      return first
    }
    const policy = aPolicy({ concurrency: 1 })
    await inbox.start(work, policy)
    await inbox.accept(aDelivery({ id: 'evt_1' }))
    await until(() => runs.includes('evt_2 run 1'))
    await until(async () => {
      const { pending, active } = await inbox.stats()
      return pending + active === 0
    })
    const lost = policy.seen.map(({ kind }) => kind).filter(kind => kind.endsWith('_lost'))
    return { runs: runs.toSorted(), lost, dead: (await inbox.stats()).dead }
  }

  test.for([
    ['completes its event, which runs once', COMPLETED, requests.completion, ['evt_1 run 1'], 0],
    ['counts one attempt', FAILED, requests.failure, ['evt_1 run 1', 'evt_1 run 2'], 0],
    ['makes a dead letter, which does not run again', DEAD, requests.failure, ['evt_1 run 1'], 1],
  ] as const)(
    '%s, and the next event waits for no lease',
    async ([, result, request, runs, dead], context) => {
      const before = proxy.dropped
      const all = await runTwo(result, request, context)
      expect(proxy.dropped).toBe(before + 1)
      expect(all).toEqual({ runs: [...runs, 'evt_2 run 1'], lost: [], dead })
    },
  )
})
