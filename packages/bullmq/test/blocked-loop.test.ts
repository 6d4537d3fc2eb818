import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { startPostgres } from '../../../test/support/postgres.ts'
import { typedQueries } from '../src/postgres/typed-queries.ts'
import { until } from './parts.ts'

const SILENCE_MS = 300
/** Waits until the server has sent the reply to everything that was asked under this name. */
const ASK = `
import { Client } from 'pg'
const client = new Client(process.argv[1])
await client.connect()
const text = "SELECT FROM pg_stat_activity WHERE application_name = 'blocked' AND state = 'active'"
while ((await client.query(text)).rowCount > 0);
await client.end()`

test('a reply of PostgreSQL that arrives while the event loop is blocked is read, however late', async () => {
  const server = await startPostgres()
  const pool = new Pool({ connectionString: server.url, application_name: 'blocked', max: 1 })
  pool.on('error', () => {})
  const queries = typedQueries(pool, SILENCE_MS)
  const options = { cwd: fileURLToPath(new URL('.', import.meta.url)) }
  try {
    // A busy machine may need longer for this alone.
    await until(() =>
      queries.query('SELECT 1').then(
        ({ rows }) => rows.length === 1,
        () => false,
      ),
    )
    const answer = queries.query("SELECT 'in time' AS reply FROM pg_sleep(0.05)")
    const sentAt = performance.now()
    // After an immediate, Node runs the timers before it reads from the network.
    await new Promise(resolve => setImmediate(resolve))
    do execFileSync(process.execPath, ['--input-type=module', '-e', ASK, server.url], options)
    while (performance.now() - sentAt <= 2 * SILENCE_MS)
    expect((await answer).rows).toEqual([{ reply: 'in time' }])
  } finally {
    await pool.end()
    await server.stop()
  }
}, 60_000)

test('a PostgreSQL that gives no reply in time fails the query, and its connection is not used again', async () => {
  const server = await startPostgres()
  const pool = new Pool({ connectionString: server.url, max: 1 })
  pool.on('error', () => {})
  try {
    const queries = typedQueries(pool, SILENCE_MS)
    await expect(queries.query('SELECT pg_sleep(3600)')).rejects.toThrow('did not respond within 300 ms')
    await until(() => pool.totalCount === 0)
    await until(() =>
      queries.query('SELECT 1').then(
        ({ rows }) => rows.length === 1,
        () => false,
      ),
    )
  } finally {
    await pool.end()
    await server.stop()
  }
}, 60_000)
