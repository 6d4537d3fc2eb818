import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { reasonOf } from '../src/inbox/with-inbox.ts'
import { canBeBound, runProcess } from './cli-process.ts'
import { runCli } from './run-cli.ts'

vi.setConfig({ testTimeout: 30_000 })

/** Host name without an address, as in all of the reserved domain `invalid`. */
const UNKNOWN_HOST = 'nowhere.invalid'
const VERBS = [['list'], ['stats'], ['redrive', 'evt_1']]

async function failureOf(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await runCli(['inbox', ...args])
  expect([code, out]).toEqual([2, ''])
  return err
}

describe('Redis', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis()
    const client = new Redis(server.url)
    await client.config('SET', 'requirepass', 'right')
    client.disconnect()
  })
  afterAll(() => server?.stop())

  const withLogin = (login: string) => server.url.replace('redis://', `redis://${login}@`)

  test.each(VERBS)('%s reports a wrong or missing password', async (...verb) => {
    expect(await failureOf(...verb, '--redis', withLogin(':wrong'))).toMatch(
      /refuses the login \(WRONGPASS .*\): give --redis the right password/,
    )
    expect(await failureOf(...verb, '--redis', server.url)).toMatch(/refuses the login \(NOAUTH /)
  })

  test('the right password gets through', async () => {
    expect(await failureOf('list', '--redis', withLogin(':right'))).toMatch(/there is no queue ackhook/)
    expect(await failureOf('list', '--redis', withLogin('default:right'))).toMatch(
      /there is no queue ackhook/,
    )
  })

  test.each(VERBS)('%s reports a closed port and an unknown host', async (...verb) => {
    const port = await freePort()
    const closed = await failureOf(...verb, '--redis', `redis://:secret@127.0.0.1:${port}`)
    expect(closed).toMatch(
      /no connection to 127\.0\.0\.1:\d+ \(connect ECONNREFUSED .*--redis has its address/,
    )
    expect(closed).not.toMatch(/secret|within \d+ ms/)
    expect(await failureOf(...verb, '--redis', `redis://${UNKNOWN_HOST}:${port}`)).toMatch(
      /\(getaddrinfo (?:ENOTFOUND|EAI_AGAIN) nowhere\.invalid\)/,
    )
  })

  test.each(['redis', 'postgres'])('a dead server of %s is reported within two seconds', async kind => {
    const dead = `${kind}://127.0.0.1:${await freePort()}`
    const attempt = () => failureOf('list', `--${kind}`, dead)
    // The first command also loads the inbox.
    expect(await attempt()).toMatch(/ECONNREFUSED/)
    const begun = performance.now()
    expect(await attempt()).toMatch(/ECONNREFUSED/)
    expect(performance.now() - begun).toBeLessThan(2000)
  })
})

test.each([
  [
    'redis',
    'redis',
    /no connection to 127\.0\.0\.1:\d+ \(Socket timeout.* in 3000ms\): check that the server runs/,
  ],
  [
    'redis with TLS',
    'rediss',
    /no connection to 127\.0\.0\.1:\d+ \(connect ETIMEDOUT\): .*TLS only if the server/,
  ],
  [
    'postgres',
    'postgres',
    /no connection to 127\.0\.0\.1:\d+ \(opening did not respond within 4000 ms\): check/,
  ],
])(
  'a %s server that accepts connections but never replies is reported in seconds',
  async (kind, scheme, said) => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const sockets = new Set<Socket>()
    silent.on('connection', socket => sockets.add(socket))
    const flag = kind === 'postgres' ? '--postgres' : '--redis'
    expect(await failureOf('list', flag, `${scheme}://127.0.0.1:${port}`)).toMatch(said)
    for (const socket of sockets) socket.destroy()
    silent.close()
  },
)

test('a socket file that does not exist is named by the reason', async () => {
  const address = 'postgres:///app?host=/tmp/ackhook-none'
  expect(await failureOf('list', '--postgres', address)).toMatch(/ENOENT .*\/tmp\/ackhook-none/)
})

test('the first reason for a host with several addresses is shown, and the cause of a timeout', () => {
  const refused = new Error('connect ECONNREFUSED ::1:6379')
  expect(reasonOf(new AggregateError([refused, new Error('other')]))).toBe(refused.message)
  const late = Object.assign(new Error('stats did not respond within 5000 ms', { cause: refused }), {
    name: 'DeadlineError',
  })
  expect(reasonOf(late)).toBe(refused.message)
  expect([reasonOf('text'), reasonOf(new Error(''))]).toEqual(['text', 'Error'])
})

describe('PostgreSQL', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres()
    const client = new Client({ connectionString: server.url })
    await client.connect()
    await client.query("CREATE USER app PASSWORD 'right'")
    const { rows } = await client.query('SHOW hba_file')
    await client.query(`COPY (SELECT 'host all all 127.0.0.1/32 scram-sha-256') TO '${rows[0].hba_file}'`)
    await client.query('SELECT pg_reload_conf()')
    await client.end()
  }, 60_000)
  afterAll(() => server?.stop())

  test.each(VERBS)('%s reports a wrong password', async (...verb) => {
    const wrong = `postgres://app:wrong@127.0.0.1:${server.port}/postgres`
    const error = await failureOf(...verb, '--postgres', wrong)
    expect(error).toMatch(
      /password authentication failed for user "app": give --postgres the right user name and password/,
    )
    expect(error).not.toMatch(/wrong|check that it runs|check whether the server hangs/)
  })

  test('a database that does not exist is named', async () => {
    const other = `postgres://app:right@127.0.0.1:${server.port}/other`
    expect(await failureOf('list', '--postgres', other)).toMatch(
      /database "other" does not exist: give --postgres the name/,
    )
  })

  test.each(VERBS)('%s reports a closed port', async (...verb) => {
    const closed = `postgres://127.0.0.1:${await freePort()}/app`
    expect(await failureOf(...verb, '--postgres', closed)).toMatch(
      /no connection to 127\.0\.0\.1:\d+ \(connect ECONNREFUSED .*--postgres has its address/,
    )
  })
})

describe('SQLite', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ackhook-cli-'))
    await chmod(folder, 0o755)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('a folder is reported as a folder', async () => {
    expect(await failureOf('list', '--sqlite', folder)).toMatch(/is a folder: name a file in it/)
  })

  test('a file that is not a database is reported as such', async () => {
    const path = join(folder, 'notes.txt')
    await writeFile(path, 'Call the customer back. '.repeat(100))
    expect(await failureOf('list', '--sqlite', path)).toMatch(/the file is not an SQLite database/)
  })

  test.skipIf(!canBeBound)(
    'a file or folder that this user cannot read is not reported as missing',
    async () => {
      const closed = join(folder, 'closed')
      await mkdir(closed)
      const path = join(closed, 'inbox.db')
      await sqliteInbox(path).stats()
      await chmod(path, 0)
      expect(await runProcess(['inbox', 'list', '--sqlite', path], { bound: true })).toMatchObject({
        code: 2,
        err: expect.stringMatching(/may not|permission|writable/),
      })
      await chmod(closed, 0)
      const hidden = await runProcess(['inbox', 'list', '--sqlite', path], { bound: true })
      await chmod(closed, 0o755)
      expect(hidden.err).toMatch(/cannot be reached \(EACCES\): check the permissions of its folder/)
    },
  )
})
