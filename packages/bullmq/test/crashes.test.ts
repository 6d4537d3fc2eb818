import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Inbox } from '@ackhook/core'
import { type TestContext, test } from 'vitest'
import { postgresEngine, redisEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const DYING = fileURLToPath(new URL('./fixtures/dying.mjs', import.meta.url))

/** Runs a process until its death. Returns the decisions with which attempts began in it. */
async function untilDeath(options: object, { onTestFinished: cleanup }: TestContext): Promise<string[]> {
  const child = fork(DYING, [JSON.stringify(options)], { execArgv: [] })
  cleanup(() => void child.kill('SIGKILL'))
  const begun: string[] = []
  child.on('message', message => void begun.push(String(message)))
  await once(child, 'close')
  return begun
}

test.concurrent.for([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  'on %s, only a process that dies in the handlers of an event counts as a crash of that event',
  { timeout: 180_000 },
  async ([, start], context) => {
    const { expect, onTestFinished: cleanup } = context
    const engine = await start()
    cleanup(() => engine.stop())
    const opened = async (queue: string, concurrency: number, work = scripted(COMPLETED)): Promise<Inbox> => {
      const inbox = engine.inbox(queue)
      cleanup(async () => void (await inbox.close(1000)))
      await inbox.start(work, aPolicy({ concurrency }))
      return inbox
    }
    const [poison, unlucky] = [unique('poison'), unique('unlucky')]
    const inboxes = await Promise.all([opened(poison, 0), opened(unlucky, 0)])
    for (const inbox of inboxes) await inbox.accept(aDelivery())

    const options = {
      poison: { ...engine.options, queue: poison, lease: '1s' },
      unlucky: { ...engine.options, queue: unlucky, lease: '1s' },
    }
    const begun: string[] = []
    for (let deaths = 1; deaths <= 6; deaths++) begun.push(...(await untilDeath(options, context)))
    expect(begun).toEqual(['run', 'run', 'run', 'run', 'run', 'abandon'])
    expect((await inboxes[0].stats()).dead).toBe(1)

    const work = scripted(COMPLETED)
    const survivor = await opened(unlucky, 1, work)
    await until(() => work.runs.length === 1)
    expect(work.runs).toMatchObject([{ attempt: 1, decision: 'run' }])
    expect((await survivor.stats()).dead).toBe(0)
  },
)
