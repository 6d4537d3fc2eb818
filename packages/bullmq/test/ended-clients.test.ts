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
