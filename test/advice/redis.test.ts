import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { adviceOn } from '@ackhook/core/advice'
import { redisStore } from '@ackhook/redis'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts'
import { startTlsRedis, type TlsRedis } from '../support/redis-tls.ts'
import { selfSigned } from '../support/self-signed.ts'
import { until } from '../support/until.ts'

// Real servers say each error, and the advice must be about that error.

type Options = Omit<RedisOptions, 'replyMapping'>
type Command = (client: Redis) => Promise<unknown>
const SET: Command = client => client.set('key', 'value')

/** Returns the first error of a client that does not repeat anything: its connection's, or its command's. */
async function errorOf(options: Options, command: Command = SET): Promise<unknown> {
  const once = { retryStrategy: () => null, maxRetriesPerRequest: 0, lazyConnect: true }
  const client = new Redis(options.port ?? 6379, options.host ?? '127.0.0.1', { ...once, ...options })
  onTestFinished(() => client.disconnect())
  const failed = new Promise<unknown>(resolve => client.on('error', resolve))
  const refused = command(client).then(
    () => undefined,
    error => error,
  )
  const error = await Promise.race([failed, refused])
  client.disconnect()
  return error
}

async function startWith(
  config: Readonly<Record<string, string>>,
  ...commands: string[][]
): Promise<RedisServer> {
  const server = await startRedis({ config })
  onTestFinished(() => server.stop())
  for (const command of commands) await run(server, ...command)
  return server
}

async function run(server: { readonly url: string }, ...command: string[]): Promise<unknown> {
  const client = new Redis(server.url, { enableReadyCheck: false })
  client.on('error', () => {})
  const [name, ...args] = command as [string, ...string[]]
  return client.call(name, ...args).finally(() => client.disconnect())
}

const to = ({ port }: { readonly port: number }, rest: Options = {}): Options => ({ port, ...rest })

describe('Redis says', () => {
  const cases: [string, RegExp, () => Promise<unknown>][] = [
    ['NOAUTH', /password/, async () => errorOf(to(await startWith({ requirepass: 'right' })))],
    [
      'WRONGPASS',
      /password/,
      async () => errorOf(to(await startWith({ requirepass: 'right' }), { password: 'x' })),
    ],
    [
      'NOPERM',
      /may write/,
      async () => {
        const acl = ['ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-@write']
        return errorOf(to(await startWith({}, acl), { username: 'reader', password: 'secret' }))
      },
    ],
    ['READONLY', /primary's address/, async () => errorOf(to(await startWith({ replicaof: '127.0.0.1 1' })))],
    [
      'MASTERDOWN',
      /lost its primary/,
      async () =>
        errorOf(
          to(await startWith({ replicaof: '127.0.0.1 1', 'replica-serve-stale-data': 'no' }), {
            enableReadyCheck: false,
          }),
          client => client.get('key'),
        ),
    ],
    ['OOM', /more memory/, async () => errorOf(to(await startWith({ maxmemory: '1' })))],
    [
      'NOREPLICAS',
      /bring the replicas back/,
      async () => errorOf(to(await startWith({ 'min-replicas-to-write': '1' }))),
    ],
    [
      'MISCONF',
      /disk space/,
      async () => {
        const server = await startWith({ save: '3600 1' }, ['SET', 'other', 'value'])
        const [, folder] = (await run(server, 'CONFIG', 'GET', 'dir')) as [string, string]
        // Redis cannot replace a folder by its file.
        mkdirSync(join(folder, 'dump.rdb', 'full'), { recursive: true })
        await run(server, 'BGSAVE')
        await until('it could not save', async () =>
          String(await run(server, 'INFO', 'persistence')).includes('rdb_last_bgsave_status:err'),
        )
        return errorOf(to(server))
      },
    ],
    [
      'WRONGTYPE',
      /another prefix/,
      async () => errorOf(to(await startWith({}, ['RPUSH', 'key', 'a'])), client => client.get('key')),
    ],
    [
      'BUSY',
      /SCRIPT KILL/,
      async () => {
        const server = await startWith({ 'busy-reply-threshold': '1' })
        const endless = run(server, 'EVAL', 'while true do end', '0').catch(() => {})
        onTestFinished(async () => {
          await run(server, 'SCRIPT', 'KILL')
          await endless
        })
        let error: unknown
        await until('it is busy', async () => {
          error = await errorOf(to(server, { enableReadyCheck: false }))
          return /^BUSY/.test(String(Object(error).message))
        })
        return error
      },
    ],
    [
      'LOADING',
      /wait until the server is up/,
      async () => {
        const slow = { 'key-load-delay': '500', 'loading-process-events-interval-bytes': '1024' }
        const server = await startWith(
          { ...slow, 'enable-debug-command': 'yes' },
          ['DEBUG', 'POPULATE', '4000'],
          ['SAVE'],
        )
        const restarted = server.restart()
        let error: unknown
        await until('it is loading', async () => {
          error = await errorOf(to(server, { enableReadyCheck: false }))
          return /^LOADING/.test(String(Object(error).message))
        })
        await restarted
        return error
      },
    ],
    [
      'ERR max number of clients reached',
      /maxclients/,
      async () => {
        const server = await startWith({ maxclients: '1' })
        const first = new Redis(server.url)
        const client = new Redis(server.url)
        for (const one of [first, client]) {
          one.on('error', () => {})
          onTestFinished(() => one.disconnect())
        }
        const store = redisStore(client, { timeout: '500ms' })
        let error: unknown
        await until('it says so', async () => {
          error = await Promise.resolve(store.start?.(() => {})).catch(({ cause }) => cause)
          return /max number of clients/.test(String(error))
        })
        return error
      },
    ],
  ]
  test.each(cases)('%s', async (words, fix, provoke) => {
    const error = await provoke()
    expect(String(Object(error).message)).toContain(words)
    expect(advice(error)).toMatch(fix)
  })
})

describe('a Redis Cluster says', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster({ 'cluster-require-full-coverage': 'no' })
  }, 60_000)
  afterAll(() => cluster.stop())

  test('MOVED and CROSSSLOT to a client of one server', async () => {
    const errors: unknown[] = []
    for (const server of cluster.servers) errors.push(await errorOf(to(server)))
    expect(errors.map(advice).filter(text => text !== undefined)).toEqual([
      expect.stringMatching(/Cluster client/),
      expect.stringMatching(/Cluster client/),
    ])
    const across = await errorOf(to(cluster.servers[0]!), client => client.mget('a', 'b'))
    expect(advice(across)).toMatch(/prefix in braces/)
  })

  test('CLUSTERDOWN without the master of a slot', async () => {
    const server = await startWith({ 'cluster-enabled': 'yes', 'cluster-port': String(await freePort()) })
    expect(advice(await errorOf(to(server)))).toMatch(/missing master/)
  })

  test('TRYAGAIN and ASK while slots move', async () => {
    const owners = await Promise.all(
      cluster.servers.map(server =>
        run(server, 'GET', '{x}a').then(
          () => true,
          () => false,
        ),
      ),
    )
    const owner = cluster.servers[owners.indexOf(true)]!
    const other = cluster.servers[owners.indexOf(false)]!
    const slot = String(await run(owner, 'CLUSTER', 'KEYSLOT', '{x}a'))
    const id = String(await run(other, 'CLUSTER', 'MYID'))
    await run(owner, 'SET', '{x}a', 'value')
    await run(owner, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', id)
    expect(advice(await errorOf(to(owner), client => client.mget('{x}a', '{x}b')))).toMatch(/slots are moved/)
    expect(advice(await errorOf(to(owner), client => client.get('{x}b')))).toMatch(/Cluster client/)
    await run(owner, 'CLUSTER', 'SETSLOT', slot, 'STABLE')
  })

  test('nothing at the address of a dead master', async () => {
    const client = new Cluster(cluster.servers.map(({ host, port }) => ({ host, port })))
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`)
    await Promise.all(keys.map(key => client.get(key)))
    await cluster.servers[2]!.kill()
    const outcomes = await Promise.allSettled(keys.map(key => client.get(key)))
    await cluster.servers[2]!.restart()
    const failed = outcomes.flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
    expect(failed.length).toBeGreaterThan(0)
    for (const error of failed) expect(advice(error)).toMatch(/every master runs|missing master/)
  })
})

describe('the network says', () => {
  let tls: TlsRedis
  beforeAll(async () => {
    tls = await startTlsRedis()
  })
  afterAll(() => tls.stop())
  const port = (url: string) => Number(new URL(url).port)

  const cases: [string, RegExp, () => Promise<unknown>][] = [
    ['ECONNREFUSED', /check that it runs/, async () => errorOf({ port: await freePort() })],
    ['ENOTFOUND|EAI_AGAIN', /check its host name/, () => errorOf({ host: 'nowhere.invalid' })],
    ['ENETUNREACH|EHOSTUNREACH', /check the address, and the routes/, () => errorOf({ host: '224.0.0.1' })],
    [
      'ETIMEDOUT',
      /whether a firewall drops/,
      async () => errorOf({ port: await silent(), tls: {}, connectTimeout: 200 }),
    ],
    [
      'ECONNRESET',
      /the server's log/,
      async () => errorOf({ port: await silent(socket => socket.resetAndDestroy()) }),
    ],
    [
      'SELF_SIGNED|UNABLE_TO_VERIFY',
      /authority's certificate/,
      () => errorOf({ port: port(tls.url), tls: {} }),
    ],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      /a name that the certificate lists/,
      () => errorOf({ port: port(tls.url), tls: { ca: tls.ca, servername: 'other.example' } }),
    ],
    [
      'ERR_SSL|EPROTO',
      /TLS on both sides or on neither/,
      async () => errorOf({ port: await silent(socket => socket.write('-ERR no TLS here\r\n')), tls: {} }),
    ],
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      /as `cert` and `key`/,
      async () => {
        const server = createTlsServer({ ...selfSigned(), requestCert: true })
        server.on('tlsClientError', () => {})
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        onTestFinished(() => void server.close())
        return errorOf({
          port: (server.address() as AddressInfo).port,
          tls: { rejectUnauthorized: false },
        })
      },
    ],
    [
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      /allow a version/,
      async () => {
        await run(tls.server, 'CONFIG', 'SET', 'tls-protocols', 'TLSv1.3')
        onTestFinished(() => run(tls.server, 'CONFIG', 'SET', 'tls-protocols', '').then(() => {}))
        return errorOf({ port: port(tls.url), tls: { ca: tls.ca, maxVersion: 'TLSv1.2' } })
      },
    ],
  ]
  test.each(cases)('%s', async (codes, fix, provoke) => {
    const error = await provoke()
    expect(String(Object(error).code)).toMatch(new RegExp(codes))
    expect(advice(error)).toMatch(fix)
  })

  test('nothing: a server that hangs', async () => {
    const client = new Redis({ port: await silent() })
    onTestFinished(() => client.disconnect())
    const started = Promise.resolve(redisStore(client, { timeout: '200ms' }).start?.(() => {}))
    await expect(started).rejects.toThrow(/whether the server hangs/)
  })
})

function advice(error: unknown): string | undefined {
  const found = adviceOn(error, 'redis')
  return found && `${found.cause}; ${found.fix}`
}

/** Accepts connections, and says nothing. */
async function silent(onConnection: (socket: Socket) => void = () => {}): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
