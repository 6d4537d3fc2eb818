import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server.stop())

test("the tests' PostgreSQL keeps rows committed before a kill", async () => {
  await query('CREATE TABLE kept (n int)')
  await query('INSERT INTO kept VALUES (7)')
  await server.restart()
  expect(await query('SELECT n FROM kept')).toEqual([{ n: 7 }])
  expect(await query('SHOW fsync')).toEqual([{ fsync: 'on' }])
  expect(await query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }])
}, 60_000)

async function query(sql: string): Promise<unknown[]> {
  const client = new Client(server.url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
