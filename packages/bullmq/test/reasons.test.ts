import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox } from '@ackhook/core'
import { describeError } from '@ackhook/core/spi'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, type TestContext, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { startCountingProxy } from './counting-proxy.ts'
import { migrate, postgresEngine, redisEngine } from './engines.ts'
import { unique, until } from './parts.ts'

const PATIENT = { timeout: 120_000 }
type Options = Parameters<typeof bullmqInbox>[0]
type Cleanup = TestContext['onTestFinished']
/** Makes a server fail, and returns the options that reach it. */
type Fail<Server> = (server: Server, cleanup: Cleanup) => Options | Promise<Options>

const redisAt = (port: number, user = '') => `redis://${user}127.0.0.1:${port}`

async function asAdmin(server: RedisServer, ...command: [string, ...string[]]): Promise<void> {
  const client = new Redis(server.url, { enableReadyCheck: false })
  client.on('error', () => {})
  await client.call(...command).finally(() => client.disconnect())
}

async function takeConnections(server: RedisServer, count: number, cleanup: Cleanup): Promise<void> {
  const clients = Array.from({ length: count }, () => new Redis(server.url, { retryStrategy: null }))
  for (const client of clients) {
    client.on('error', () => {})
    cleanup(() => client.disconnect())
  }
  await Promise.allSettled(clients.map(client => client.ping()))
}

/** A receiver that only receives, as its operator sees it. */
async function receiving(options: Options, cleanup: Cleanup) {
  const logger = recordingLogger()
  const inbox: Inbox = bullmqInbox({ queue: unique('q'), ...options })
  const receiver = createReceiver({ secret: SECRET, inbox, logger, concurrency: 0 })
  cleanup(() => void receiver.close({ timeout: '1s' }))
  const logged = () =>
    logger.lines
      .filter(({ fields }) => fields['code'] === 'store_down')
      .map(({ fields }) => describeError(fields['err']))
  return { receiver, logged }
}

const atStart: [string, Readonly<Record<string, string>>, Fail<RedisServer>, RegExp][] = [
  [
    'a wrong password',
    { requirepass: 'right' },
    ({ port }) => ({ connection: redisAt(port, ':wrong@') }),
    /WRONGPASS.*right password/,
  ],
  [
    'no password',
    { requirepass: 'right' },
    ({ port }) => ({ connection: redisAt(port) }),
    /NOAUTH.*right password/,
  ],
  [
    'a user without permission',
    {},
    async server => {
      await asAdmin(server, 'ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-@write')
      return { connection: redisAt(server.port, 'reader:secret@') }
    },
    /(NOPERM|can't run this command).*a user that may write/,
  ],
  [
    'too many clients',
    { maxclients: '10' },
    async (server, cleanup) => {
      await takeConnections(server, 12, cleanup)
      return { connection: server.url }
    },
    /max number of clients reached.*maxclients/,
  ],
  [
    'no server at its port',
    {},
    async () => ({ connection: redisAt(await freePort()) }),
    /ECONNREFUSED.*check that it runs/,
  ],
  [
    'an unknown host',
    {},
    () => ({ connection: 'redis://ssl-tls.certificate.invalid:6379' }),
    /(ENOTFOUND|EAI_AGAIN).*check its host name/,
  ],
  [
    'a replica',
    {},
    async (server, cleanup) => {
      const primary = await startRedis()
      cleanup(() => primary.stop())
      await asAdmin(server, 'REPLICAOF', primary.host, String(primary.port))
      return { connection: server.url }
    },
    /READONLY.*the primary/,
  ],
]

test.concurrent.for(atStart)(
  'a failed start names the reason and the fix: Redis with %s',
  PATIENT,
  async ([, config, fail, message], { expect, onTestFinished: cleanup }) => {
    const server = await startRedis({ config })
    cleanup(() => server.stop())
    const { receiver, logged } = await receiving(await fail(server, cleanup), cleanup)
    await expect(receiver.start()).rejects.toThrow(message)
    const reply = await receiver.handle(signedRequest(eventBody({})))
    expect(reply.status).toBe(503)
    expect(logged().length).toBeGreaterThan(0)
    expect(logged().join('\n')).not.toMatch(/max retries per request|isn't writeable|EPIPE/i)
  },
)

/** Starts a server that takes at least 7 s to load its data after a restart. */
async function slowlyLoading(cleanup: Cleanup): Promise<RedisServer> {
  const config = { 'key-load-delay': '500', 'loading-process-events-interval-bytes': '1024' }
  const server = await startRedis({ config: { ...config, 'enable-debug-command': 'yes' } })
  cleanup(() => server.stop())
  await asAdmin(server, 'DEBUG', 'POPULATE', '14000')
  await asAdmin(server, 'SAVE')
  return server
}

test(
  'while Redis loads its data, a failed start and refused deliveries say so, and a later start succeeds',
  PATIENT,
  async ({ expect, onTestFinished: cleanup }) => {
    const server = await slowlyLoading(cleanup)
    const loaded = server.restart()
    loaded.catch(() => {})
    await until(() => asAdmin(server, 'GET', 'key:1').then(() => false, isLoading))
    const { receiver, logged } = await receiving({ connection: server.url }, cleanup)
    const message = /LOADING Redis is loading the dataset in memory.*wait until the server is up/
    await expect(receiver.start()).rejects.toThrow(message)
    expect((await receiver.handle(signedRequest(eventBody({})))).status).toBe(503)
    expect(logged().join('\n')).toMatch(message)
    await asAdmin(server, 'CONFIG', 'SET', 'key-load-delay', '0')
    await loaded
    await receiver.start()
    expect((await receiver.handle(signedRequest(eventBody({})))).status).toBe(202)
  },
)

function isLoading(error: unknown): boolean {
  return /^ReplyError: LOADING /.test(describeError(error))
}

const questions: [string, (inbox: Inbox) => unknown][] = [
  ['stats', inbox => inbox.stats()],
  ['forget', inbox => inbox.forget('key')],
  ['processes', inbox => inbox.processes?.()],
  ['throughput', inbox => inbox.throughput?.()],
  ['browse a list', inbox => inbox.browse?.({ state: 'dead' })],
  ['browse for a key', inbox => inbox.browse?.({ state: 'dead', key: 'key' })],
  ['list dead letters', inbox => inbox.deadLetters.list()],
  ['get a dead letter', inbox => inbox.deadLetters.get('key')],
  ['redrive a dead letter', inbox => inbox.deadLetters.redrive('key')],
  ['discard a dead letter', inbox => inbox.deadLetters.discard('key')],
]

describe.concurrent.each([
  ['Redis', (port: number) => ({ connection: redisAt(port) })],
  ['PostgreSQL', (port: number) => ({ postgres: `postgres://postgres@127.0.0.1:${port}/postgres` })],
] as const)('a tool without a server at the port of %s gets the reason', (_, optionsAt) => {
  test.for(questions)('%s', PATIENT, async ([, ask], { expect, onTestFinished: cleanup }) => {
    const inbox = bullmqInbox(optionsAt(await freePort()))
    cleanup(async () => void (await inbox.close(1000)))
    await expect(Promise.resolve(ask(inbox))).rejects.toThrow(/ECONNREFUSED/)
  })
})

const later: [string, Fail<RedisServer>, RegExp][] = [
  [
    'has another password',
    async server => {
      await asAdmin(server, 'CONFIG', 'SET', 'requirepass', 'another')
      await asAdminWith(server, 'another', 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      return {}
    },
    /NOAUTH|WRONGPASS/,
  ],
  [
    'is full',
    async server => {
      await asAdmin(server, 'CONFIG', 'SET', 'maxmemory', '1')
      return {}
    },
    /OOM command not allowed/,
  ],
  [
    'is gone',
    async server => {
      await server.kill()
      return {}
    },
    /ECONNREFUSED|ECONNRESET|Redis closed the connection/,
  ],
  [
    'has become a replica',
    async server => {
      await asAdmin(server, 'REPLICAOF', '127.0.0.1', '1')
      return {}
    },
    /READONLY|MASTERDOWN/,
  ],
]

async function asAdminWith(
  server: RedisServer,
  password: string,
  ...command: [string, ...string[]]
): Promise<void> {
  const client = new Redis(server.url, { password })
  client.on('error', () => {})
  await client.call(...command).finally(() => client.disconnect())
}

test.concurrent.for(later)(
  'a process that only receives logs why: Redis %s',
  PATIENT,
  async ([, fail, message], { expect, onTestFinished: cleanup }) => {
    const server = await startRedis()
    cleanup(() => server.stop())
    const { receiver, logged } = await receiving({ connection: server.url }, cleanup)
    await receiver.start()
    expect((await receiver.handle(signedRequest(eventBody({})))).status).toBe(202)
    await fail(server, cleanup)
    // Each operation is logged once a minute, so only the first message shows.
    await until(async () => {
      await receiver.handle(signedRequest(eventBody({ id: unique('evt_') })))
      return logged().length > 0
    })
    expect(logged().join('\n')).not.toMatch(/max retries per request|isn't writeable/i)
    await until(async () => {
      const stats = await receiver.stats().catch(error => describeError(error))
      return message.test(`${logged().join('\n')}\n${JSON.stringify(stats)}`)
    })
  },
)

const ofPostgres: [string, Readonly<Record<string, string>>, Fail<PostgresServer>, RegExp][] = [
  [
    'a wrong password',
    {},
    async server => {
      await sql(server, "CREATE ROLE app LOGIN PASSWORD 'right'")
      return { postgres: addressOf(server, { username: 'app', password: 'wrong' }) }
    },
    /role "app"|password authentication failed|permission denied/,
  ],
  [
    'an unknown database',
    {},
    server => ({ postgres: addressOf(server, { pathname: '/nowhere' }) }),
    /database "nowhere" does not exist.*create that database/,
  ],
  [
    'an unknown user',
    {},
    server => ({ postgres: addressOf(server, { username: 'nobody-here' }) }),
    /role "nobody-here" does not exist.*username/,
  ],
  [
    'too many connections',
    { max_connections: '4', superuser_reserved_connections: '0', max_wal_senders: '0' },
    async (server, cleanup) => {
      for (let i = 0; i < 4; i++) {
        const client = new Client({ connectionString: server.url })
        client.on('error', () => {})
        await client.connect()
        cleanup(() => client.end())
      }
      return { postgres: server.url }
    },
    /too many clients.*max_connections/,
  ],
  [
    'a user without permission',
    {},
    async server => {
      await sql(server, 'CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA bullmq TO reader')
      await sql(server, 'GRANT SELECT ON ALL TABLES IN SCHEMA bullmq TO reader')
      return { postgres: addressOf(server, { username: 'reader' }) }
    },
    /permission denied.*a user that may write|may not create Ackhook's own tables/,
  ],
  [
    'a statement timeout of 1 ms',
    {},
    async (server, cleanup) => {
      await sql(server, 'CREATE ROLE hasty LOGIN SUPERUSER; ALTER ROLE hasty SET statement_timeout = 1')
      const locking = new Client({ connectionString: server.url })
      locking.on('error', () => {})
      cleanup(() => locking.end().catch(() => {}))
      await locking.connect()
      await locking.query('BEGIN; LOCK TABLE bullmq.job, bullmq.migration IN ACCESS EXCLUSIVE MODE')
      return { postgres: addressOf(server, { username: 'hasty' }) }
    },
    /statement timeout.*statement_timeout/,
  ],
  [
    'no server at its port',
    {},
    async () => ({ postgres: `postgres://postgres@localhost:${await freePort()}/postgres` }),
    /ECONNREFUSED.*check that it runs/,
  ],
  [
    'an unknown host',
    {},
    () => ({ postgres: 'postgres://postgres@ssl-tls.certificate.invalid/postgres' }),
    /(ENOTFOUND|EAI_AGAIN).*check its host name/,
  ],
  [
    'no TLS',
    {},
    server => ({ postgres: { connectionString: server.url, ssl: true } }),
    /does not support SSL.*TLS on both sides/,
  ],
]

function addressOf(server: PostgresServer, parts: Partial<URL>): string {
  return Object.assign(new URL(server.url), parts).href
}

async function sql(server: PostgresServer, text: string): Promise<void> {
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

let shared: PostgresServer
beforeAll(async () => {
  shared = await startPostgres()
  await migrate(shared.url)
}, 60_000)
afterAll(() => shared.stop())

/** Returns the shared server, or a new one if it needs other settings. */
async function startedWith(config: Readonly<Record<string, string>>, cleanup: Cleanup) {
  if (Object.keys(config).length === 0) return shared
  const server = await startPostgres({ config })
  cleanup(() => server.stop())
  await migrate(server.url)
  return server
}

test.for(ofPostgres)(
  'a failed start names the reason and the fix: PostgreSQL with %s',
  PATIENT,
  async ([, config, fail, message], { expect, onTestFinished: cleanup }) => {
    const server = await startedWith(config, cleanup)
    const { receiver, logged } = await receiving(await fail(server, cleanup), cleanup)
    await expect(receiver.start()).rejects.toThrow(message)
    expect((await receiver.handle(signedRequest(eventBody({})))).status).toBe(503)
    expect(logged().length).toBeGreaterThan(0)
  },
)

test.concurrent.for([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)(
  'a start waits for a %s that is not ready yet',
  PATIENT,
  async ([, start], { expect, onTestFinished: cleanup }) => {
    const engine = await start()
    cleanup(() => engine.stop())
    const proxy = await startCountingProxy(engine.port, { refuses: 2 })
    cleanup(() => proxy.stop())
    const { receiver } = await receiving(engine.optionsAt(proxy.port), cleanup)
    // A busy machine may need longer than a start allows.
    const failures: string[] = []
    const starts = async () =>
      receiver.start().then(
        () => true,
        (error: Error) => void failures.push(error.message),
      )
    await until(starts)
    expect(failures.filter(message => !message.includes('did not respond within'))).toEqual([])
    expect(proxy.refused()).toBe(2)
    expect((await receiver.handle(signedRequest(eventBody({})))).status).toBe(202)
  },
)

test(
  'a process that only receives logs why: PostgreSQL shuts down',
  PATIENT,
  async ({ expect, onTestFinished: cleanup }) => {
    const server = await startPostgres()
    cleanup(() => server.stop())
    await migrate(server.url)
    const { receiver, logged } = await receiving({ postgres: server.url }, cleanup)
    await receiver.start()
    expect((await receiver.handle(signedRequest(eventBody({})))).status).toBe(202)
    await server.kill('SIGINT')
    await until(async () => {
      await receiver.handle(signedRequest(eventBody({ id: unique('evt_') })))
      return logged().length > 0
    })
    expect(logged()[0]).toMatch(/ECONNREFUSED|terminat|shutting down|ECONNRESET/)
  },
)
