import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterEach } from 'vitest'
import { storedQueue } from '../../../packages/bullmq/src/engine/form.ts'
import { begunAfter, migrate } from '../../../packages/bullmq/test/engines.ts'
import { unique } from '../../../packages/bullmq/test/parts.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'
import { nothingIsLeft as nothingIsLeftIn } from '../inbox/nothing-is-left.ts'
import { createPlatform, type Platform } from '../inbox/platform.ts'
import { type ChildSettings, type ReceiverProcess, startReceiver } from '../inbox/receiver-process.ts'
import { createWorkspace, type Workspace } from '../inbox/workspace.ts'

export const CONCURRENCY = 8

interface Server {
  readonly engine: NonNullable<ChildSettings['engine']>
  kill(): Promise<void>
  restart(): Promise<void>
  /** Makes the queue's only event look as if it had crashed `times` processes. */
  countStalls(queue: string, times: number): Promise<void>
}

/** A server for one test, with receivers on one of its queues. */
export interface Setting {
  readonly server: Server
  readonly space: Workspace
  readonly platform: Platform
  start(extra?: Partial<ChildSettings>): Promise<ReceiverProcess>
}

const closing: (() => unknown)[] = []

/** Closes everything after each test. Called once where the tests are declared. */
export function cleanUp(): void {
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
}

async function redis(): Promise<Server> {
  const server = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  closing.push(() => server.stop())
  return {
    engine: { connection: server.url },
    kill: () => server.kill(),
    restart: () => server.restart(),
    async countStalls(queue, times) {
      const client = new Redis(server.url)
      const [job] = await client.keys(`bull:${storedQueue(queue)}:e-??????????????????????`)
      await client.hset(job!, { stc: times, progress: begunAfter(times) })
      client.disconnect()
    },
  }
}

async function postgres(): Promise<Server> {
  const server = await startPostgres()
  closing.push(() => server.stop())
  await migrate(server.url)
  return {
    engine: { postgres: server.url },
    kill: () => server.kill('SIGQUIT'),
    restart: () => server.restart(),
    async countStalls(queue, times) {
      const client = new Client({ connectionString: server.url })
      await client.connect()
      await client.query('UPDATE bullmq.job SET stalled_count = $2, progress = $3 WHERE queue = $1', [
        storedQueue(queue),
        times,
        begunAfter(times),
      ])
      await client.end()
    },
  }
}

const SERVERS = { 'Redis, appendfsync always': redis, PostgreSQL: postgres } as const
export type EngineName = keyof typeof SERVERS

export async function setUp(name: EngineName, connections?: number): Promise<Setting> {
  const server = await SERVERS[name]()
  const space = createWorkspace()
  closing.push(() => space.remove())
  const platform = createPlatform(connections === undefined ? {} : { connections })
  closing.push(() => platform.stop())
  const { engine } = server
  const settings = { mode: 'bullmq', engine, queue: unique('f'), ...space } as const
  return {
    server,
    space,
    platform,
    async start({ options, ...extra } = {}) {
      const receiver = await startReceiver({
        ...settings,
        ...extra,
        options: { concurrency: CONCURRENCY, ...options },
      })
      closing.push(async () => {
        receiver.signal('SIGKILL')
        await receiver.exited
      })
      return receiver
    },
  }
}

/** Waits until every acknowledged event is handled. Resolves with the number of repeated attempts. */
export async function allHandled({ platform, space }: Setting): Promise<number> {
  const missing = () => {
    const { done } = space.read()
    return [...platform.acked].filter(id => !done.has(id))
  }
  await until('every acknowledged event is handled', () => missing().length === 0, 120_000).catch(error => {
    throw new Error(`lost: ${missing().join(', ')}`, { cause: error })
  })
  await idle(space)
  return [...space.read().begun.values()].reduce((sum, times) => sum + times - 1, 0)
}

/** Waits until no attempt has begun for as long as it takes to notice an expired lease. */
export async function idle(space: Workspace): Promise<void> {
  const begun = () => [...space.read().begun.values()].reduce((sum, times) => sum + times, 0)
  for (let before = -1, now = begun(); before !== now; now = begun()) {
    before = now
    await sleep(2500)
  }
}

/** Waits until the receiver has handled, or given up on, all accepted events. */
export const nothingIsLeft = (receiver: ReceiverProcess): Promise<void> => nothingIsLeftIn(receiver, 120_000)

export function report(line: string): void {
  process.stdout.write(`${line}\n`)
}
