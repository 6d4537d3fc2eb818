import { bullmqInbox } from '@ackhook/bullmq'
import type { Inbox } from '@ackhook/core'
import { Client, Pool } from 'pg'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type EndingProxy, startEndingProxy } from '../../../test/support/ending-proxy.ts'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { migrate } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

let server: PostgresServer
let proxy: EndingProxy
const closing: (() => unknown)[] = []

beforeAll(async () => {
  server = await startPostgres()
  await migrate(server.url)
  proxy = await startEndingProxy(server.port)
}, 60_000)
afterAll(async () => {
  await proxy.stop()
  await server.stop()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const throughProxy = () => server.url.replace(String(server.port), String(proxy.port))

function opened(postgres: string | Pool, queue = unique('q')): Inbox {
  const inbox = bullmqInbox({ queue, lease: '1s', postgres })
  closing.push(() => inbox.close(1000))
  return inbox
}

/** Errors that would have ended the process. */
function uncaught(): readonly string[] {
  const seen: string[] = []
  const collect = (error: unknown) => void seen.push(String(error))
  const taken = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', collect)
  onTestFinished(() => {
    process.off('uncaughtException', collect)
    for (const listener of taken) process.on('uncaughtException', listener)
  })
  return seen
}

const POOLS = {
  'its own pool': () => throughProxy(),
  "a user's pool": () => {
    const pool = new Pool({ connectionString: throughProxy(), options: '-c search_path=bullmq' })
    closing.push(() => pool.end())
    return pool
  },
}

for (const [name, postgres] of Object.entries(POOLS)) {
  test.each([1, 2, 3])(
    `connections of ${name} that end right after reply %i end no process, and the next event is handled at once`,
    async reply => {
      const seen = uncaught()
      const inbox = opened(postgres())
      const work = scripted(COMPLETED)
      await inbox.start(work, aPolicy())
      const before = proxy.ended
      const ending = new Client({ connectionString: server.url })
      await ending.connect()
      closing.push(() => ending.end())
      proxy.endAfter(reply)
      await ending.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND client_port IS NOT NULL',
      )
      // Also the connection that listens for new jobs, which the next wait opens.
      await until(() => proxy.ended >= before + 8)
      proxy.endAfter(undefined)
      await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
      await until(() => work.runs.length > 0)
      expect(seen).toEqual([])
    },
  )
}

/** A client that takes one query at a time, as `pg` 9 does. */
class StrictClient extends Client {
  static readonly refused: string[] = []
  #running: string | undefined

  // biome-ignore lint/suspicious/noExplicitAny: `pg` declares this method in dozens of forms.
  override query(...query: any[]): any {
    const text = String(query[0]?.text ?? query[0])
    if (this.#running !== undefined) {
      StrictClient.refused.push(`${text} during ${this.#running}`)
      throw new Error('the client is already executing a query')
    }
    this.#running = text
    const answer = super.query(...(query as [never])) as unknown as Promise<unknown>
    const end = () => {
      this.#running = undefined
    }
    answer.then(end, end)
    return answer
  }
}

test('no client is queried while it is busy, which pg 9 refuses, and pg 8 warns of nothing', async () => {
  const warnings: string[] = []
  const collect = ({ message }: Error) => void warnings.push(message)
  process.on('warning', collect)
  onTestFinished(() => void process.off('warning', collect))
  const seen = uncaught()
  const pool = new Pool({
    connectionString: server.url,
    options: '-c search_path=bullmq',
    Client: StrictClient as never,
  })
  closing.push(() => pool.end())
  const queue = unique('q')
  for (const postgres of [pool, server.url]) {
    const inbox = opened(postgres, queue)
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    const questions = () => [
      inbox.stats(),
      inbox.processes?.(),
      inbox.throughput?.(),
      inbox.handling?.paused(),
      inbox.deadLetters.list(),
    ]
    // One at a time: the worker begins to wait after each, and asks whether its listening connection is alive.
    for (let count = 1; count <= 8; count++) {
      const asked = questions()
      expect((await inbox.accept(aDelivery())).outcome).toBe('accepted')
      await Promise.all(asked)
      await until(() => work.runs.length === count)
    }
    await inbox.close(1000)
  }
  expect(StrictClient.refused).toEqual([])
  expect(warnings.filter(text => text.includes('pg@9'))).toEqual([])
  expect(seen).toEqual([])
})
