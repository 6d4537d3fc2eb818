import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { adapterSuite, adapterSuiteOptions } from '@ackhook/conformance/adapter'
import { inboxSuite } from '@ackhook/conformance/inbox'
import { storeSuite } from '@ackhook/conformance/store'
import type { DedupeStore, Inbox, Receiver, WebhookEvent } from '@ackhook/core'
import { ABORT, type AttemptResult, type ProcessingPolicy } from '@ackhook/core/spi'
import { getRequestListener } from '@hono/node-server'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { DECLARED } from '../conformance/declared.ts'
import { itUnlessLong } from '../support/in-full.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { allBlocks } from './blocks.ts'

const folder = `${ROOT}test/docs/.extending`

interface StoreGuide {
  readonly TABLE: string
  postgresStore(pool: Pool): DedupeStore
}

interface InboxGuide {
  readonly TABLE: string
  postgresInbox(pool: Pool): Inbox
}

/** Imports the module in a guide's first block. */
async function example<Module>(guide: string): Promise<Module> {
  const block = allBlocks().find(one => one.doc === `docs/extending/${guide}.md`)
  mkdirSync(folder, { recursive: true })
  const file = `${folder}/${guide}.ts`
  writeFileSync(file, block?.code ?? '')
  return (await import(/* @vite-ignore */ file)) as Module
}

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
}, 60_000)
afterAll(async () => {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Creates pools for an empty table. */
async function poolsOf(definition: string, table: string, count: number): Promise<Pool[]> {
  const pools = Array.from({ length: count }, () => {
    // The server stops while connections are open.
    return new Pool({ connectionString: postgres.url, max: 5 }).on('error', () => {})
  })
  await pools[0]?.query(`${definition}; TRUNCATE ${table}`)
  return pools
}

describe("the guide's store", () => {
  const cases = storeSuite({
    async open() {
      const { postgresStore, TABLE } = await example<StoreGuide>('writing-a-store')
      const pools = await poolsOf(TABLE, 'webhook_ids', 2)
      const [first, second] = pools.map(postgresStore) as [DedupeStore, DedupeStore]
      return { first, second, close: async () => void (await Promise.all(pools.map(pool => pool.end()))) }
    },
  })
  // The default run checks these only with our own stores.
  const long = ['store.claim.race', 'store.time.exact']
  for (const { id, name, run } of cases) itUnlessLong(id, long)(`${id}: ${name}`, run)
})

describe("the guide's inbox", () => {
  const cases = inboxSuite({
    capabilities: { survives: true, shared: true, serialize: false, forgets: true, traces: true },
    async open() {
      const { postgresInbox, TABLE } = await example<InboxGuide>('writing-an-inbox')
      const pools = await poolsOf(TABLE, 'webhook_events, webhook_processes', 8)
      let opened = 0
      return {
        createInbox: () => postgresInbox(pools[opened++] as Pool),
        close: async () => void (await Promise.all(pools.map(pool => pool.end()))),
      }
    },
  })
  const long = ['retention-lasts', 'drain-withdrawn', 'reopen-delay', 'durable-board-kept']
  for (const { id, name, run } of cases) itUnlessLong(id, long)(`${id}: ${name}`, run)

  it('keeps its crash count when a drain cuts off a notification', async () => {
    const { postgresInbox, TABLE } = await example<InboxGuide>('writing-an-inbox')
    const [pool] = (await poolsOf(TABLE, 'webhook_events', 1)) as [Pool]
    await pool.query(
      `INSERT INTO webhook_events (key, namespace, id, type, body, fingerprint, received_at, state, crashes)
       VALUES ('k', '', 'evt_1', 'a.b', '', 0, 0, 'notifying', 5)`,
    )
    const decisions: string[] = []
    const inbox = postgresInbox(pool)
    await inbox.start((_delivery, { decision }): AttemptResult => {
      decisions.push(decision)
      return decisions.length === 1
        ? { outcome: 'retry', delayMs: 0, error: ABORT.drained() }
        : { outcome: 'dead', error: new Error('it crashed'), notified: true }
    }, POLICY)
    await vi.waitFor(() => expect(decisions).toEqual(['abandon', 'abandon']), 10_000)
    await inbox.close(1000)
    await pool.end()
  })
})

const POLICY: ProcessingPolicy = {
  acknowledge: 'immediately',
  concurrency: 1,
  capacity: 10,
  handlerTimeoutMs: 1000,
  retry: { attempts: 5, minDelayMs: 1, maxDelayMs: 1, factor: 1 },
  retentionMs: 60_000,
  serialize: false,
  clock: Date.now,
  observe() {},
  logger: { info() {}, warn() {}, error() {} },
}

describe("the guide's adapter", () => {
  interface Context {
    readonly request: Request
    readonly params: Readonly<Record<string, string>>
  }
  type Webhooks = ((context: Context) => Promise<Response>) & Receiver<never, Context>
  const events: WebhookEvent[] = []
  let server: Server
  let base: string

  beforeAll(async () => {
    const { webhooks } = await example<{ webhooks(options: object): Webhooks }>('writing-an-adapter')
    const hooks = webhooks({ ...adapterSuiteOptions, logger: { info() {}, warn() {}, error() {} } })
    hooks.on('*', (event: WebhookEvent) => void events.push(event))
    server = createServer(
      getRequestListener(async request => {
        if (request.url.endsWith('/parsed')) await request.text()
        return hooks({ request, params: {} })
      }),
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  const open = () => ({ url: `${base}/plain`, parsedUrl: `${base}/parsed`, handled: () => events })
  for (const { id, name, run } of adapterSuite({ open }).filter(
    one => !(one.id in (DECLARED['fetch'] ?? {})),
  ))
    itUnlessLong(id, ['adapter.connections.slow'])(`${id}: ${name}`, run)
})

it('has a guide for each suite', () => {
  const guides = allBlocks().filter(({ doc }) => doc.startsWith('docs/extending/'))
  expect(new Set(guides.map(({ doc }) => doc)).size).toBe(3)
})
