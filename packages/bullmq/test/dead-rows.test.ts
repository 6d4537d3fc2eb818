import { once } from 'node:events'
import { Client, Pool } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { createEngine } from '../src/create-engine.ts'
import { resolveOptions } from '../src/options.ts'
import { DeadRows } from '../src/postgres/dead-rows.ts'
import { typedQueries } from '../src/postgres/typed-queries.ts'
import { migrate } from './engines.ts'
import { unique, until } from './parts.ts'

const MANY = 1000
const BOUNDS = { heldMs: 1, held: MANY, left: MANY }

let server: PostgresServer
let pool: Pool
const closing: (() => unknown)[] = []

beforeAll(async () => {
  // Without autovacuum, which would remove the rows in the middle of a test.
  server = await startPostgres({ config: { autovacuum: 'off', max_prepared_transactions: '2' } })
  await migrate(server.url)
  pool = pooled('postgres')
  await pool.query('CREATE ROLE plain LOGIN')
  await pool.query('GRANT USAGE ON SCHEMA bullmq TO plain')
}, 60_000)
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await pool.query('TRUNCATE job CASCADE')
  const left = "SELECT n_dead_tup::int AS n FROM pg_stat_all_tables WHERE relid = 'job'::regclass"
  await until(async () => (await pool.query(left)).rows[0]?.['n'] === 0)
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

function pooled(user: string): Pool {
  const connectionString = server.url.replace('postgres@', `${user}@`)
  return new Pool({ connectionString, options: '-c search_path=bullmq', max: 4 })
}

function watched(user = 'postgres'): DeadRows {
  const own = pooled(user)
  closing.push(() => own.end())
  return new DeadRows(typedQueries(own, 10_000), BOUNDS)
}

/** Leaves as many dead rows as a few hundred events do. */
async function leaveDeadRows(): Promise<void> {
  const jobs = Array.from({ length: MANY }, (_, index) => ({ id: unique(`${index}_`), name: 'a.b' }))
  await pool.query('SELECT count(*) FROM add_jobs_bulk($1, $2)', [unique('q'), JSON.stringify(jobs)])
  await pool.query('UPDATE job SET progress = $1', ['1'])
}

async function query(client: { query(text: string): Promise<unknown> }, ...texts: string[]): Promise<void> {
  for (const text of texts) await client.query(text)
}

async function transaction(...texts: string[]): Promise<void> {
  const client = new Client({ connectionString: server.url, application_name: 'a report' })
  await client.connect()
  closing.push(() => client.end())
  await query(client, ...texts)
}

/** What `pg` has of a connection for replication. */
interface CopyConnection {
  on(event: string, listener: () => void): this
  once(event: string, listener: () => void): this
  sendCopyFromChunk(chunk: Buffer): void
}

/** Reports, as a replica does, that a query there still needs the rows of this moment. */
async function replica(slot?: string): Promise<void> {
  const client = new Client({ connectionString: server.url, replication: 'true' } as object)
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('IDENTIFY_SYSTEM')
  const at = rows[0]?.['xlogpos']
  const { connection } = client as unknown as { readonly connection: CopyConnection }
  const started = once(connection as never, 'replicationStart')
  client.query(`START_REPLICATION ${slot === undefined ? '' : `SLOT ${slot}`} PHYSICAL ${at}`).catch(() => {})
  await started
  const { rows: now } = await pool.query('SELECT txid_current()::text AS xid')
  const xid = BigInt(now[0]?.['xid'])
  const feedback = Buffer.alloc(25)
  feedback.write('h')
  feedback.writeUInt32BE(Number(xid % 2n ** 32n), 9)
  feedback.writeUInt32BE(Number(xid / 2n ** 32n), 13)
  connection.sendCopyFromChunk(feedback)
  const seen = slot === undefined ? 'backend_xmin FROM pg_stat_replication' : 'xmin FROM pg_replication_slots'
  await until(async () =>
    (await pool.query(`SELECT ${seen}`)).rows.some(row => Object.values(row)[0] !== null),
  )
  const end = () => (client as unknown as { end(): Promise<void> }).end()
  // A slot that is idle keeps what its replica has reported.
  if (slot === undefined) closing.push(end)
  else await end()
}

const HOLDERS: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
  [
    'report',
    () => transaction('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1'),
    /the server process \d+ \(a report\) is open\. .*pg_terminate_backend/,
  ],
  [
    'forgotten transaction that has written',
    () => transaction('BEGIN', 'SELECT txid_current()'),
    /\(a report\) is open/,
  ],
  [
    'prepared transaction',
    async () => {
      await transaction('BEGIN', 'SELECT txid_current()', "PREPARE TRANSACTION 'forgotten'")
      closing.push(() => pool.query("ROLLBACK PREPARED 'forgotten'"))
    },
    /prepared transaction 'forgotten' is open\. .*ROLLBACK PREPARED/,
  ],
  ['query on a replica', () => replica(), /a replica reports a query .*hot_standby_feedback/],
  [
    'replication slot without its replica',
    async () => {
      await pool.query("SELECT pg_create_physical_replication_slot('forgotten', true)")
      closing.push(() => pool.query("SELECT pg_drop_replication_slot('forgotten')"))
      await replica('forgotten')
    },
    /replication slot 'forgotten' .*pg_drop_replication_slot/,
  ],
]

test.each(HOLDERS)('a %s that keeps dead rows is told with the fix', async (_, hold, message) => {
  const rows = watched()
  await hold()
  await leaveDeadRows()
  await rows.check()
  expect(rows.stats.oldestSnapshotMs).toBe(0)
  await until(async () => (await rows.check()).length > 0)
  expect(rows.stats.oldestSnapshotMs).toBeGreaterThan(0)
  expect(rows.stats.deadRows).toBeGreaterThanOrEqual(MANY)
  expect(await rows.check()).toEqual([
    { code: 'postgres_snapshot_held', message: expect.stringMatching(message) },
  ])
})

test('a user that does not see the transactions of others is told how long one is held all the same', async () => {
  const rows = watched('plain')
  await transaction('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1')
  await leaveDeadRows()
  await until(async () => (await rows.check())[0]?.code === 'postgres_snapshot_held')
})

test('dead rows that nothing holds are a matter of autovacuum, and a session that waits between two statements holds none', async () => {
  const rows = watched()
  await transaction('BEGIN', 'SELECT 1')
  await leaveDeadRows()
  await rows.check()
  await until(async () => (await rows.check()).length > 0)
  expect(await rows.check()).toMatchObject([
    { code: 'postgres_dead_rows', message: expect.stringContaining('autovacuum') },
  ])
  expect(rows.stats.oldestSnapshotMs).toBe(0)
})

test('neither dead rows nor an old snapshot is told alone, and the counts have both', async () => {
  const rows = watched()
  await transaction('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1')
  for (let look = 0; look < 3; look++) expect(await rows.check()).toEqual([])
  expect(rows.stats.oldestSnapshotMs).toBeGreaterThan(0)
  expect(rows.stats.deadRows).toBeLessThan(MANY)

  const engine = await createEngine(resolveOptions({ postgres: server.url, queue: unique('q') }))
  closing.push(() => engine.disconnect())
  await engine.ready()
  expect(await engine.readCounts()).not.toHaveProperty('deadRows')
  await engine.notices()
  await engine.notices()
  const { oldestSnapshotMs, deadRows } = await engine.readCounts()
  expect([oldestSnapshotMs! > 0, deadRows! < MANY]).toEqual([true, true])
})
