import { inboxProcess, inboxSuite } from '@ackhook/testing/inbox-suite'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { unique } from './parts.ts'

const PROCESS = new URL('./fixtures/inbox-process.mjs', import.meta.url)
const CAPABILITIES = {
  survives: true,
  shared: true,
  forgets: true,
  browse: true,
  counts: true,
  many: true,
}

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('bullmqInbox on %s', (name, start) => {
  const capabilities = { ...CAPABILITIES, serialize: name === 'PostgreSQL' }
  let engine: TestEngine

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  const open = () => {
    const queue = unique('suite')
    return { queue, createInbox: () => engine.inbox(queue) }
  }
  const cases = inboxSuite<ReturnType<typeof open>>({
    open,
    crash: ({ queue }) => inboxProcess(PROCESS, { ...engine.options, queue }),
    failWrites: (_, isFailing) => engine.failWrites(isFailing),
    skew: async ({ queue }, aheadMs) =>
      (await inboxProcess(PROCESS, { ...engine.options, queue, aheadMs })).inbox,
    capabilities,
  })
  for (const { id, name, timeLimitMs, run } of cases) {
    test(`${id}: ${name}`, { timeout: timeLimitMs }, run)
  }
})
