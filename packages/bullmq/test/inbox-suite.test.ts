import { inboxSuite } from '@ackhook/testing/inbox-suite'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { unique } from './parts.ts'

const CAPABILITIES = {
  durable: true,
  forgets: true,
  browse: true,
  counts: true,
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
    return { createInbox: () => engine.inbox(queue) }
  }
  for (const { id, name, run } of inboxSuite({ open, capabilities })) {
    test(`${id}: ${name}`, { timeout: 60_000 }, run)
  }
})
