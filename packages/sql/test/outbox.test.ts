import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { WebhookEvent } from '@ackhook/core'
import { createEvent } from '@ackhook/testing'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readmeBlocks } from '../../../test/support/readme-blocks.ts'
import { type Databases, type OpenDatabase, onPostgres } from './databases.ts'
import { contextOf } from './handling.ts'

// The outbox of docs/run/your-database.md, as it stands there.

type Send = (key: string, body: unknown) => Promise<void>
interface Outbox {
  store(event: WebhookEvent, context: ReturnType<typeof contextOf>): Promise<unknown>
  sendNext(): Promise<boolean>
}

const FILE = fileURLToPath(new URL(`../../../test/.documented/outbox-${process.pid}.ts`, import.meta.url))
let databases: Databases
let open: OpenDatabase
let outboxOf: (pool: Pool, send: Send) => Outbox
beforeAll(async () => {
  const [block] = readmeBlocks('docs/run/your-database.md', 'outbox')
  mkdirSync(fileURLToPath(new URL('../../../test/.documented/', import.meta.url)), { recursive: true })
  writeFileSync(FILE, block?.text ?? '')
  ;({ outboxOf } = await import(FILE))
  databases = await onPostgres()
  open = databases.open(await databases.create())
  const [, table] = /\/\/ (CREATE TABLE outbox .*)/.exec(block?.text ?? '') ?? []
  await open.query(table ?? '')
})
afterAll(async () => {
  rmSync(FILE, { force: true })
  await open.close()
  await databases.stop()
})

it('sends each stored request at least once, with one key, and stores none twice', async () => {
  const sent: [string, unknown][] = []
  let fails = true
  const { store, sendNext } = outboxOf(open.db as Pool, async (key, body) => {
    sent.push([key, body])
    if (fails) throw new Error('the service is down')
  })
  const event = createEvent('conversation.resolved', { id: 'evt_1' })
  for (const result of ['ran', 'done']) expect(await store(event, contextOf())).toBe(result)
  await expect(sendNext()).rejects.toThrow('the service is down')
  fails = false
  expect([await sendNext(), await sendNext()]).toEqual([true, false])
  expect(sent).toEqual([
    ['evt_1', event.data],
    ['evt_1', event.data],
  ])
})
