import { Cluster } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { bullmqInbox } from './bullmq-inbox.ts'
import type { BullmqInboxOptions } from './options.ts'

function aCluster(): Cluster {
  return new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
}

describe('a wrong option is refused at construction, with its name and the fix', () => {
  const connection = 'redis://127.0.0.1:6379'
  const wrong: [string, unknown, RegExp][] = [
    ['nothing at all', undefined, /'options'.*an object with connection, postgres/],
    ['no engine', {}, /'connection'.*either connection.*or postgres/],
    ['two engines', { connection, postgres: 'postgres://127.0.0.1' }, /'connection'.*either/],
    ['an unknown option', { connection, conection: 1 }, /'conection'.*options are connection, postgres/],
    ['a PostgreSQL address for Redis', { connection: 'postgres://127.0.0.1' }, /'connection'.*'postgres'/],
    ['the same in options', { connection: { url: 'postgres://127.0.0.1' } }, /'connection'.*'postgres'/],
    ['the same as a URL', { connection: new URL('postgres://127.0.0.1') }, /'connection'.*'postgres'/],
    ['a URL that is not a string', { connection: { url: 6379 } }, /'connection'.*redis:\/\//],
    ['a Redis address for PostgreSQL', { postgres: connection }, /'postgres'.*postgres:\/\//],
    ['a number for PostgreSQL', { postgres: 5432 }, /'postgres'.*pool/],
    ['a pool of one connection', { postgres: { host: '127.0.0.1', max: 1 } }, /'postgres'.*at least two/],
    ['null for Redis', { connection: null }, /'connection'.*ioredis/],
    [
      'a client of another package',
      { connection: { connect() {}, duplicate() {} } },
      /'connection'.*ioredis 5 or 6/,
    ],
    ['a keyPrefix in options', { connection: { keyPrefix: 'x:' } }, /'connection'.*keyPrefix.*'prefix'/],
    ['a create that is not a boolean', { connection, create: 'no' }, /'create'.*true or false/],
    ['a queue with a colon', { connection, queue: 'a:b' }, /'queue'.*':'/],
    ['an empty prefix', { connection, prefix: '' }, /'prefix'/],
    ['several queues', { connection, queues: 4 }, /'queues'.*was removed.*two endpoints.*event type/],
    ['one of several queues', { connection, queues: 1 }, /'queues'.*was removed: leave it out/],
    [
      'queues on PostgreSQL',
      { postgres: 'postgres://localhost/app', queues: undefined },
      /'queues'.*was removed/,
    ],
    ['a cluster without a hash tag', { connection: aCluster() }, /'prefix'.*prefix: '\{ackhook\}'/],
    ['an empty hash tag', { connection: aCluster(), prefix: '{}', queue: '{q}' }, /'prefix'.*hash tag/],
    ['a prefix on PostgreSQL', { postgres: 'postgres://127.0.0.1', prefix: 'x' }, /'prefix'.*schema/],
    ['a lease in milliseconds', { connection, lease: 30_000 }, /'lease'/],
    ['a rate limit of zero', { connection, rateLimit: { events: 0, per: '1s' } }, /'rateLimit.events'/],
    [
      'a rate limit with an unknown name',
      { connection, rateLimit: { events: 5, time: '1s' } },
      /'rateLimit.time'.*events, per/,
    ],
    ['null for PostgreSQL', { postgres: null }, /'postgres'.*pool/],
    ['null for a queue', { connection, queue: null }, /'queue'.*null.*leave it out/],
    ['null for a prefix', { connection, prefix: null }, /'prefix'.*null/],
    ['null for a lease', { connection, lease: null }, /'lease'.*null/],
    ['null for a rate limit', { connection, rateLimit: null }, /'rateLimit'.*null/],
    ['null in a rate limit', { connection, rateLimit: { events: null, per: '1s' } }, /'rateLimit.events'/],
    ['a rate limit that is off', { connection, rateLimit: false }, /'rateLimit'.*an object with events, per/],
    ['null for telemetry', { connection, telemetry: null }, /'telemetry'.*null/],
    ['null for create', { connection, create: null }, /'create'.*null/],
    ['null for all options', null, /'options'.*an object/],
    ['a rate limit without a time', { connection, rateLimit: { events: 5 } }, /'rateLimit.per'/],
  ]
  test.each(wrong)('%s', (_, options, message) => {
    expect(() => bullmqInbox(options as BullmqInboxOptions)).toThrow(message)
  })
})

test.each([{ prefix: '{ackhook}' }, { queue: '{hooks}' }])('a cluster may have %o', options => {
  expect(() => bullmqInbox({ connection: aCluster(), ...options })).not.toThrow()
})

test('an inbox that was never started connects to nothing and closes at once', async () => {
  const inbox = bullmqInbox({ connection: 'redis://127.0.0.1:1' })
  expect(await inbox.close(1000)).toEqual({ lost: 0 })
  await expect(async () => inbox.stats()).rejects.toThrow(/closed/)
})

describe('an unset variable is refused if a client would connect to its default instead', () => {
  const wrong: [unknown, string][] = [
    [{ connection: { url: undefined } }, 'connection.url'],
    [{ connection: { url: null } }, 'connection.url'],
    [{ connection: { url: undefined, port: 6380 } }, 'connection.url'],
    [{ connection: { host: undefined } }, 'connection.host'],
    [{ connection: { host: null } }, 'connection.host'],
    [{ connection: { host: '' } }, 'connection.host'],
    [{ connection: { host: undefined, port: 6380 } }, 'connection.host'],
    [{ connection: { host: 'redis', port: undefined } }, 'connection.port'],
    [{ connection: { host: 'redis', db: undefined } }, 'connection.db'],
    [{ connection: { sentinels: undefined, name: 'primary' } }, 'connection.sentinels'],
    [{ connection: { path: undefined } }, 'connection.path'],
    [{ postgres: { connectionString: undefined } }, 'postgres.connectionString'],
    [{ postgres: { connectionString: null } }, 'postgres.connectionString'],
    [{ postgres: { connectionString: '' } }, 'postgres.connectionString'],
    [{ postgres: { host: undefined, database: 'app' } }, 'postgres.host'],
    [{ postgres: { host: 'db', database: undefined } }, 'postgres.database'],
    [{ postgres: { host: 'db', user: undefined } }, 'postgres.user'],
    [{ postgres: { connectionString: 'postgres://127.0.0.1', schema: undefined } }, 'postgres.schema'],
  ]
  test.each(wrong)('%j: %s', (options, option) => {
    expect(() => bullmqInbox(options as BullmqInboxOptions)).toThrow(
      expect.objectContaining({
        option,
        message: expect.stringMatching(/set its environment variable.*#unset-variables/),
      }),
    )
  })

  test.each([
    { connection: { url: 'redis://127.0.0.1:1', host: undefined, port: undefined } },
    { connection: { url: undefined, host: '127.0.0.1' } },
    { connection: { path: '/run/redis.sock', host: undefined } },
    { connection: { host: '127.0.0.1', password: undefined } },
    { postgres: { connectionString: 'postgres://127.0.0.1', host: undefined } },
    { postgres: { connectionString: undefined, host: '127.0.0.1' } },
    { postgres: {} },
    { postgres: 'postgres://127.0.0.1' },
    { postgres: new URL('postgres://127.0.0.1') },
    { connection: {}, prefix: undefined, rateLimit: undefined },
  ])('%j connects to the given address', options => {
    expect(() => bullmqInbox(options as BullmqInboxOptions)).not.toThrow()
  })
})
