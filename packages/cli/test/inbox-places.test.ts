import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, testReceiver } from '@ackhook/testing'
import { DatabaseSync } from '@photostructure/sqlite'
import { Cluster, Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { eventBody, SECRET as SIGNING_SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { runProcess } from './cli-process.ts'
import { deliverPatiently } from './deliver-patiently.ts'
import { runCli, SECRET, startCli } from './run-cli.ts'

const logger = { info() {}, warn() {}, error() {} }

let folder: string
let redis: RedisServer
let postgres: PostgresServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ackhook-cli-'))
  ;[redis, postgres] = await Promise.all([startRedis(), startPostgres()])
}, 60_000)

afterAll(async () => {
  await Promise.all([redis?.stop(), postgres?.stop()])
  await rm(folder, { recursive: true, force: true })
})

/** Leaves one dead letter, like an app that has ended. */
async function leaveDeadLetter(inbox: Inbox, id = 'evt_1'): Promise<void> {
  const receiver = createReceiver({ secret: SECRET, inbox, logger })
  receiver.on('*', () => {
    throw new NonRetryableError('no such customer')
  })
  const hooks = testReceiver(receiver, { secret: SECRET })
  await receiver.start()
  await deliverPatiently(hooks, createEvent('a.b', { id }))
  await receiver.close()
}

/** Runs a command in a separate process, which ends only when its connections are closed. */
async function deadLettersAt(...place: string[]): Promise<unknown> {
  const { code, out, err } = await runProcess(['inbox', 'list', '--json', ...place])
  return { code, err, ids: JSON.parse(out).deadLetters.map((letter: { id: string }) => letter.id) }
}

const FOUND = { code: 0, err: '', ids: ['evt_1'] }

describe('ackhook inbox with BullMQ', () => {
  beforeAll(async () => {
    const onPostgres = { connectionString: postgres.url, schema: 'events', migrate: true }
    await leaveDeadLetter(bullmqInbox({ connection: redis.url, queue: 'hooks', prefix: '{ackhook}' }))
    await leaveDeadLetter(bullmqInbox({ postgres: onPostgres, queue: 'hooks' }))
  }, 60_000)

  test('names options by their flags', async () => {
    expect((await runCli(['inbox', 'stats', '--redis', 'localhost:6390'])).err).toMatch(
      /--redis: must begin with redis:.*belongs in --postgres/,
    )
  })

  test('finds a queue by its prefix', async () => {
    const place = ['--redis', redis.url, '--queue', 'hooks']
    expect(await deadLettersAt(...place, '--prefix', '{ackhook}')).toEqual(FOUND)
  })

  test('finds a queue on a Redis Cluster from one of its nodes', async () => {
    const cluster = await startRedisCluster()
    const connection = new Cluster(cluster.servers.map(({ host, port }) => ({ host, port })))
    const inbox = () => bullmqInbox({ connection, prefix: '{ackhook}' })
    for (let index = 0; index < 12; index++) await leaveDeadLetter(inbox(), `evt_${index}`)
    connection.disconnect()
    const place = ['--redis', cluster.servers[0]!.url, '--cluster', '--prefix', '{ackhook}']
    const stats = await runCli(['inbox', 'stats', '--json', ...place])
    expect(stats.err).toBe('')
    expect(JSON.parse(stats.out)).toMatchObject({ dead: 12 })
    const listed = await deadLettersAt(...place)
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect((listed as { readonly ids: readonly string[] }).ids).toHaveLength(12)
    const shown = await runCli(['inbox', 'show', 'evt_7', ...place])
    expect(shown.out).toContain('no such customer')
    const ui = startCli(['inbox', 'ui', '--port', '0', '--json', ...place])
    const { listening, token } = JSON.parse(await ui.line(/listening/)) as {
      listening: string
      token: string
    }
    const headers = { authorization: `Bearer ${token}` }
    const ask = async (path: string) => (await fetch(`${listening}/api/${path}`, { headers })).json()
    expect(await ask('overview')).toMatchObject({ stats: { dead: 12 } })
    expect(((await ask('letters')) as { events: unknown[] }).events).toHaveLength(12)
    ui.stop()
    await ui.ended
    const redriven = await runCli(['inbox', 'redrive', '--all', '--yes', '--json', ...place])
    expect(JSON.parse(redriven.out)).toMatchObject({ redriven: 12 })
    await cluster.stop()
  }, 120_000)

  test('finds a queue by its schema', async () => {
    const place = ['--postgres', postgres.url, '--queue', 'hooks']
    expect(await deadLettersAt(...place, '--schema', 'events')).toEqual(FOUND)
  })

  test.each(['list', 'stats', 'redrive', 'discard'])(
    '%s of a queue that does not exist ends with 2 and creates none',
    async verb => {
      const all = verb === 'redrive' || verb === 'discard' ? ['--all'] : []
      const onRedis = await runCli(['inbox', verb, ...all, '--redis', redis.url, '--queue', 'hoks'])
      expect(onRedis).toMatchObject({ code: 2, out: '' })
      expect(onRedis.err).toMatch(/there is no queue hoks with prefix bull: set --queue and --prefix/)
      const onPostgres = await runCli([
        'inbox',
        verb,
        ...all,
        '--postgres',
        postgres.url,
        '--queue',
        'hoks',
        '--schema',
        'events',
      ])
      expect(onPostgres).toMatchObject({ code: 2, out: '' })
      expect(onPostgres.err).toMatch(/there is no queue hoks with schema events: set --queue and --schema/)

      const client = new Redis(redis.url)
      expect(await client.keys('*hoks*')).toEqual([])
      client.disconnect()
      const pool = new Pool({ connectionString: postgres.url, options: '-c search_path=events' })
      expect((await pool.query("SELECT * FROM meta WHERE queue = 'hoks'")).rows).toEqual([])
      await pool.end()
    },
  )
})

describe('ackhook inbox with SQLite', () => {
  test('finds the file', async () => {
    const path = join(folder, 'webhooks.db')
    await leaveDeadLetter(sqliteInbox(path))
    expect(await deadLettersAt('--sqlite', path)).toEqual(FOUND)
  })

  test('a file that does not exist ends with 2 and is not created', async () => {
    const path = join(folder, 'misspelled.db')
    expect(await runCli(['inbox', 'list', '--sqlite', path])).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no database'),
    })
    expect(existsSync(path)).toBe(false)
  })

  test("another program's database ends with 2 and is not changed", async () => {
    const path = join(folder, 'app.db')
    const app = new DatabaseSync(path)
    app.exec('CREATE TABLE users (id)')
    expect(await runCli(['inbox', 'list', '--sqlite', path])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/is not an inbox file.*Is it the right file\?/),
    })
    expect(app.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'users' }])
    expect(app.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' })
    app.close()
  })
})

test.each([
  [['--sqlite', 'x.db', '--queue', 'q'], '--queue is only for --redis and --postgres'],
  [['--postgres', 'postgres://127.0.0.1/app', '--prefix', 'p'], '--prefix is only for --redis'],
  [['--redis', 'redis://127.0.0.1', '--schema', 's'], '--schema is only for --postgres'],
])('ackhook inbox %j names the option that does not belong there', async (place, message) => {
  expect(await runCli(['inbox', 'stats', ...place])).toMatchObject({
    code: 2,
    err: expect.stringContaining(message),
  })
})

test.each([
  ['a file', true, () => ['--sqlite', join(folder, 'paused.db')]],
  ['Redis', false, () => ['--redis', redis.url, '--queue', 'paused']],
  ['PostgreSQL', false, () => ['--postgres', postgres.url, '--queue', 'paused', '--schema', 'paused']],
])(
  'pause and resume reach the app’s process over %s',
  async (_, hasTypes, placeOf) => {
    const place = placeOf()
    const inbox = await inboxAt(place)
    const receiver = createReceiver({ secret: SIGNING_SECRET, inbox, logger })
    const ran: string[] = []
    receiver.on('*', event => void ran.push(event.id))
    await receiver.start()
    const notices: string[] = []
    receiver.subscribe(one => void (one.kind === 'notice' && notices.push(one.code)))
    const what = hasTypes ? 'a.b' : '--all'
    expect(await runCli(['inbox', 'pause', what, ...place])).toMatchObject({ code: 0, err: '' })
    await expect.poll(() => notices, { timeout: 40_000 }).toContain('handling_paused')
    const request = signedRequest(eventBody({ id: 'evt_paused', type: 'a.b' }))
    const reply = await receiver.handle(request)
    expect(reply.status).toBe(202)
    expect((await runCli(['inbox', 'stats', ...place])).out).toMatch(/^paused .* since /m)
    await new Promise(resolve => setTimeout(resolve, 700))
    expect(ran).toEqual([])
    expect(await runCli(['inbox', 'resume', what, ...place])).toMatchObject({ code: 0, err: '' })
    await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['evt_paused'])
    await receiver.close()
  },
  120_000,
)

async function inboxAt([kind, at = '']: readonly string[]): Promise<Inbox> {
  if (kind === '--sqlite') return sqliteInbox({ path: at, poll: '20ms' })
  if (kind === '--redis') return bullmqInbox({ connection: at, queue: 'paused' })
  return bullmqInbox({ postgres: { connectionString: at, schema: 'paused', migrate: true }, queue: 'paused' })
}
