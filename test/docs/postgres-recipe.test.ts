import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Client, type PoolClient } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { allBlocks } from './blocks.ts'

const DOC = 'docs/understand/exactly-once-effects.md'
const folder = `${ROOT}test/docs/.recipe`
let postgres: PostgresServer
let client: Client
let once: (eventId: string, effect: (client: PoolClient) => Promise<void>) => Promise<void>

beforeAll(async () => {
  postgres = await startPostgres()
  client = new Client({ connectionString: postgres.url })
  // The server stops while the recipe's connections are open.
  client.on('error', () => {})
  await client.connect()
  const sql = /```sql\n(.*?)```/s.exec(readFileSync(`${ROOT}${DOC}`, 'utf8'))?.[1] ?? ''
  await client.query(`${sql}; CREATE TABLE counters (name text PRIMARY KEY, value int NOT NULL)`)
  await client.query("INSERT INTO counters VALUES ('resolved', 0)")
  vi.stubEnv('DATABASE_URL', postgres.url)
  vi.stubEnv('SIGNING_SECRET', 'a-secret-of-at-least-16-bytes')
  const recipe = allBlocks().find(one => one.doc === DOC && one.code.includes('handled_events'))
  mkdirSync(folder, { recursive: true })
  // Its pool would report the server's end as an error.
  writeFileSync(`${folder}/recipe.ts`, `${recipe?.code}\npool.on('error', () => {})\nexport { pool }\n`)
  ;({ once } = await import(/* @vite-ignore */ `${folder}/recipe.ts`))
}, 60_000)

afterAll(async () => {
  const { pool } = await import(/* @vite-ignore */ `${folder}/recipe.ts`)
  await pool.end()
  await client.end()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
})

const count = async (connection: PoolClient) => {
  await connection.query("UPDATE counters SET value = value + 1 WHERE name = 'resolved'")
}

async function counted(): Promise<number> {
  const { rows } = await client.query<{ value: number }>('SELECT value FROM counters')
  return rows[0]?.value ?? -1
}

it('takes effect once, however many attempts run at the same time', async () => {
  await Promise.all(Array.from({ length: 20 }, () => once('evt_1', count)))
  expect(await counted()).toBe(1)
})

it('undoes the effect of a failed attempt, and the next attempt takes effect', async () => {
  const before = await counted()
  const failing = async (connection: PoolClient) => {
    await count(connection)
    throw new Error('after the effect')
  }
  await expect(once('evt_2', failing)).rejects.toThrow('after the effect')
  expect(await counted()).toBe(before)
  await once('evt_2', count)
  await once('evt_2', count)
  expect(await counted()).toBe(before + 1)
})
