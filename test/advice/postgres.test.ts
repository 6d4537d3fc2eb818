import { writeFileSync } from 'node:fs'
import { adviceOn } from '@ackhook/core/advice'
import { Client, type ClientConfig } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

// A real PostgreSQL says each error, and the advice must be about that error.

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
  await sql('CREATE ROLE app LOGIN PASSWORD $$right$$', 'CREATE TABLE one (id int)')
  const hba = String((await sql('SHOW hba_file')).rows[0]?.['hba_file'])
  const lines = ['host all app 127.0.0.1/32 scram-sha-256', 'host all nobody 127.0.0.1/32 reject']
  writeFileSync(hba, [...lines, 'host all all 127.0.0.1/32 trust', 'local all all trust', ''].join('\n'))
  await sql('SELECT pg_reload_conf()')
  await until(
    'it asks for passwords',
    async () => (await errorOf({ user: 'app', password: 'x' })) !== undefined,
  )
}, 60_000)
afterAll(() => server.stop())

async function connect(config: ClientConfig = {}, at = server): Promise<Client> {
  const { host, port } = at
  const client = new Client({ host, port, user: 'postgres', database: 'postgres', ...config })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function sql(...statements: string[]) {
  const client = await connect()
  try {
    for (const statement of statements.slice(0, -1)) await client.query(statement)
    return await client.query(statements.at(-1)!)
  } finally {
    await client.end()
  }
}

async function errorOf(config: ClientConfig, ...statements: string[]): Promise<unknown> {
  let client: Client | undefined
  try {
    client = await connect(config)
    for (const statement of statements) await client.query(statement)
    return undefined
  } catch (error) {
    return error
  } finally {
    await client?.end().catch(() => {})
  }
}

const app = { user: 'app', password: 'right' }
const cases: [string, RegExp, () => Promise<unknown>][] = [
  ['28P01', /right password/, () => errorOf({ user: 'app', password: 'wrong' })],
  ['28000', /right username.*pg_hba/, () => errorOf({ user: 'nobody' })],
  ['3D000', /create that database/, () => errorOf({ database: 'nowhere' })],
  ['42501', /a user that may write/, () => errorOf(app, 'INSERT INTO one VALUES (1)')],
  ['42P01', /search_path/, () => errorOf({}, 'SELECT * FROM nothing')],
  ['42883', /search_path/, () => errorOf({}, 'SELECT nothing()')],
  ['3F000', /search_path/, () => errorOf({}, 'CREATE TABLE nothing.one (id int)')],
  [
    '25006',
    /primary's address/,
    () => errorOf({}, 'SET default_transaction_read_only = on', 'INSERT INTO one VALUES (1)'),
  ],
  ['57014', /statement_timeout/, () => errorOf({ statement_timeout: 10 }, 'SELECT pg_sleep(5)')],
  [
    '57P01',
    /wait until the server is up/,
    () => errorOf({}, 'SELECT pg_terminate_backend(pg_backend_pid())'),
  ],
  [
    '55P03',
    /pg_stat_activity/,
    async () => {
      const holder = await connect()
      onTestFinished(() => holder.end())
      await holder.query('BEGIN; LOCK TABLE one')
      return errorOf({}, "SET lock_timeout = '10ms'", 'SELECT * FROM one')
    },
  ],
]
test.each(cases)('PostgreSQL says %s', async (code, fix, provoke) => {
  const error = await provoke()
  expect(Object(error).code).toBe(code)
  expect(advice(error)).toMatch(fix)
})

test('PostgreSQL says that it has no TLS', async () => {
  expect(advice(await errorOf({ ssl: true }))).toMatch(/TLS on both sides or on neither/)
})

test('PostgreSQL says 53300 without a connection left, 57P03 while it stops, and then nothing', async () => {
  const config = { max_connections: '3', superuser_reserved_connections: '0', max_wal_senders: '0' }
  const small = await startPostgres({ config })
  onTestFinished(() => small.stop())
  const to = { host: small.host, port: small.port }
  const clients = await Promise.all([1, 2, 3].map(() => connect(to)))
  const full = await errorOf(to)
  expect(Object(full).code).toBe('53300')
  expect(advice(full)).toMatch(/max_connections/)
  await clients.pop()!.end()
  // Waits for its clients.
  process.kill(small.pid, 'SIGTERM')
  let stopping: unknown
  await until('it stops', async () => {
    stopping = await errorOf(to)
    return Object(stopping).code === '57P03'
  })
  expect(advice(stopping)).toMatch(/wait until the server is up/)
  const [left, ...others] = clients
  const lost = left!.query('SELECT pg_sleep(30)').catch(error => error)
  await small.kill()
  expect(advice(await lost)).toMatch(/the server's log|wait until/)
  for (const client of others) await client.end().catch(() => {})
  expect(advice(await errorOf(to))).toMatch(/check that it runs/)
})

function advice(error: unknown): string | undefined {
  const found = adviceOn(error, 'postgres')
  return found && `${found.cause}; ${found.fix}`
}
