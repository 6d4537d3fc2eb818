import { EventEmitter } from 'node:events'
import { PostgresConnection, PostgresQueueBackend, RedisQueueBackend } from 'bullmq'
import { expect, test, vi } from 'vitest'
import { guardListenClients, type ListenClient, postgresBackend, redisBackend } from './bullmq-internals.ts'

test("this BullMQ's backends have all members as they are listed", () => {
  expect(redisBackend(RedisQueueBackend.prototype)).toBe(RedisQueueBackend.prototype)
  expect(postgresBackend(PostgresQueueBackend.prototype)).toBe(PostgresQueueBackend.prototype)
})

test.each([
  ['lacks one', { execCommand: undefined }],
  ['gives one another parameter', { execCommand: (_client: unknown, _command: string) => {} }],
])('a BullMQ that %s is refused, and the error names the version to install', (_, change) => {
  const changed = Object.assign(Object.create(RedisQueueBackend.prototype), change)
  expect(() => redisBackend(changed)).toThrow(`changed ${Object.keys(change)[0]} of the backend`)
  expect(() => redisBackend(changed)).toThrow('npm install bullmq@~6.7')
})

/** A client of a pool. Each query lasts until the next turn. */
class FakeClient extends EventEmitter {
  readonly ended: unknown[] = []
  running = 0
  mostRunning = 0
  async query(): Promise<void> {
    this.mostRunning = Math.max(this.mostRunning, ++this.running)
    await new Promise(resolve => setImmediate(resolve))
    this.running--
  }
  release(failure: unknown): void {
    this.ended.push(failure)
  }
}

/** BullMQ's own connection on a pool. */
function connectionTo(connect: () => Promise<FakeClient>): PostgresConnection {
  const pool = Object.assign(new EventEmitter(), {
    connect,
    query: connect,
    end: async () => {},
    options: {},
  })
  return new PostgresConnection(pool as never)
}

type Guarded = Parameters<typeof guardListenClients>[0]

// If one of these fails, BullMQ has mended it: the guard for it in bullmq-internals.ts can go.
test('BullMQ itself hears a connection only after it has awaited it, queries a busy one, and leaves one unheard', async () => {
  const client = new FakeClient()
  const heard: number[] = []
  const connection = connectionTo(async () => {
    // Runs before whoever awaits the client.
    queueMicrotask(() => heard.push(client.listenerCount('error')))
    return client
  })
  const [first] = await Promise.all([
    connection.setListenClientName('a').then(() => connection['getListenClient']()),
    connection.setListenClientName('a'),
  ])
  expect(heard).toEqual([0])
  expect(client.mostRunning).toBe(2)
  await connection.close()
  expect(first).toBe(client)
  expect(client.listenerCount('error')).toBe(0)
})

test('a guarded connection that failed before BullMQ heard it is reported again, and replaced', async () => {
  const clients = [new FakeClient(), new FakeClient()]
  const failure = new Error('terminating connection due to administrator command')
  let made = 0
  const connection = connectionTo(async () => clients[made++]!)
  const listening = vi.fn()
  const failureOf = (client: ListenClient) => ((client as unknown) === clients[0] ? failure : undefined)
  guardListenClients(connection as unknown as Guarded, failureOf, listening)
  await expect(connection['getListenClient']()).rejects.toBe(failure)
  expect(clients[0]!.ended).toEqual([true])
  expect(await connection['getListenClient']()).toBe(clients[1])
  expect(listening.mock.calls).toEqual([[clients[1]]])
})

test('a guarded connection is queried once at a time, and an error after it was given up is ignored', async () => {
  const client = new FakeClient()
  const connection = connectionTo(async () => client)
  guardListenClients(
    connection as unknown as Guarded,
    () => undefined,
    () => {},
  )
  const named = [1, 2, 3].map(() => connection.setListenClientName('a'))
  const { query } = (await connection['getListenClient']()) as unknown as ListenClient
  await Promise.all([...named, query('SELECT'), query('SELECT')])
  expect(client.mostRunning).toBe(1)
  await connection.close()
  expect(client.ended).toEqual([true])
  expect(client.emit('error', new Error('read ECONNRESET'))).toBe(true)
})

test.each(['getListenClient', 'handleListenClientError'])(
  'a BullMQ without %s of its connection is refused',
  name => {
    const connection = Object.assign(Object.create(PostgresConnection.prototype), { [name]: undefined })
    expect(() =>
      guardListenClients(
        connection,
        () => undefined,
        () => {},
      ),
    ).toThrow(`changed ${name} of the connection to PostgreSQL`)
  },
)
