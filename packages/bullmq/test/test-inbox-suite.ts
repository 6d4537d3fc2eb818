import { inboxProcess, inboxSuite } from '@ackhook/conformance/inbox'
import type { Inbox } from '@ackhook/core'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { itUnlessLong } from '../../../test/support/in-full.ts'
import { type SwitchingProxy, startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { redisEngine, type TestEngine } from './engines.ts'
import { unique } from './parts.ts'

const PROCESS = new URL('./fixtures/inbox-process.mjs', import.meta.url)
const CAPABILITIES = {
  survives: true,
  shared: true,
  forgets: true,
  browse: true,
  counts: true,
  many: true,
  drops: true,
  erases: true,
  groups: true,
  lookup: true,
  traces: true,
  activity: true,
  pauses: true,
}

/** BullMQ's scripts and the keys of a started queue. */
const OWN_BYTES = 1_000_000

/** Opens a queue on its own Redis, since only the server's memory limits the size of waiting events. */
async function smallRedis(bytes: number, wrap: (inbox: Inbox) => Inbox) {
  const engine = await redisEngine()
  const client = new Redis(engine.port)
  const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
  await client.config('SET', 'maxmemory', String(used + OWN_BYTES + bytes))
  client.disconnect()
  const queue = unique('small')
  return { queue, createInbox: () => wrap(engine.inbox(queue)), close: () => engine.stop() }
}

const NONE: readonly string[] = []

/** Wraps every inbox of the suite. */
interface Sealing {
  /** Module with the functions `seal` and `open`, for the suite's processes. */
  readonly seal?: string
  readonly wrap?: (inbox: Inbox) => Inbox
  readonly long?: readonly string[] | RegExp
}

/** Declares the tests of the inbox suite. One file for each engine, since they take the longest of all files. */
export function testInboxSuite(
  name: TestEngine['name'],
  start: () => Promise<TestEngine>,
  { seal, wrap = inbox => inbox, long = NONE }: Sealing = {},
): void {
  const capabilities = { ...CAPABILITIES, serialize: name === 'PostgreSQL' }
  let engine: TestEngine

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop()
    await engine.stop()
  })
  const proxies: SwitchingProxy[] = []

  const open = () => {
    const queue = unique('suite')
    return { queue, createInbox: () => wrap(engine.inbox(queue)) }
  }
  const cases = inboxSuite<ReturnType<typeof open>>({
    open,
    crash: ({ queue }) => inboxProcess(PROCESS, { ...engine.options, queue, seal }),
    failWrites: (_, isFailing) => engine.failWrites(isFailing),
    distant: async ({ queue }) => {
      const proxy = await startSwitchingProxy(engine.port)
      proxies.push(proxy)
      const { inbox, stop, resume } = await inboxProcess(PROCESS, {
        ...engine.optionsAt(proxy.port),
        queue,
        seal,
      })
      return {
        inbox,
        stop,
        resume,
        path: state => (state === 'silent' ? proxy.silence() : proxy.delay(state.delayMs)),
      }
    },
    ...(name === 'Redis' && { openSmall: (bytes: number) => smallRedis(bytes, wrap) }),
    skew: async ({ queue }, aheadMs) =>
      (await inboxProcess(PROCESS, { ...engine.options, queue, seal, aheadMs })).inbox,
    capabilities,
  })
  for (const { id, name, timeLimitMs, run } of cases) {
    itUnlessLong(id, long)(`${id}: ${name}`, { timeout: timeLimitMs }, run)
  }
}
