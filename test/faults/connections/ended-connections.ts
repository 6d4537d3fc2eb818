import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { migrate } from '../../../packages/bullmq/test/engines.ts'
import { unique } from '../../../packages/bullmq/test/parts.ts'
import { startCuttingProxy } from '../../support/cutting-proxy.ts'
import { startPostgres } from '../../support/postgres.ts'
import { random } from '../../support/random.ts'
import { startRedis } from '../../support/redis.ts'
import { startSqs } from '../../support/sqs.ts'
import { until } from '../../support/until.ts'
import { createPlatform, type Platform } from '../inbox/platform.ts'
import { SECRET } from '../inbox/receiver-process.ts'

/** A server on whose connections a receiver depends, and the ways in which these end. */
interface Place {
  readonly kind: 'bullmq' | 'pool' | 'store' | 'sqs'
  readonly options: object
  readonly endings: readonly (() => unknown)[]
  stop(): Promise<unknown>
}

async function onPostgres(isPool: boolean): Promise<Place> {
  const server = await startPostgres()
  await migrate(server.url)
  const proxy = await startCuttingProxy(server.port)
  const url = server.url.replace(String(server.port), String(proxy.port))
  const queue = unique('q')
  const terminate = async (which: string) => {
    const client = new Client({ connectionString: server.url })
    client.on('error', () => {})
    await client.connect()
    const others = `pid <> pg_backend_pid() AND client_port IS NOT NULL AND ${which}`
    await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
    await client.end()
  }
  return {
    kind: isPool ? 'pool' : 'bullmq',
    options: isPool ? { connectionString: url, queue } : { postgres: url, queue },
    endings: [
      () => terminate('true'),
      () => terminate('random() < 0.3'),
      () => terminate('random() < 0.3'),
      () => proxy.cut(),
      () => proxy.cut(),
      async () => {
        await server.kill(random() < 0.5 ? 'SIGINT' : 'SIGQUIT')
        await server.restart()
      },
    ],
    stop: () => Promise.all([proxy.stop(), server.stop()]),
  }
}

async function onRedis(kind: 'bullmq' | 'store'): Promise<Place> {
  const server = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  const proxy = await startCuttingProxy(server.port)
  const url = server.url.replace(String(server.port), String(proxy.port))
  const kill = async (share: number) => {
    const client = new Redis(server.url)
    client.on('error', () => {})
    const list = String(await client.client('LIST'))
    const ids = [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id!)
    for (const id of ids) if (random() < share) await client.call('CLIENT', 'KILL', 'ID', id, 'SKIPME', 'YES')
    client.disconnect()
  }
  return {
    kind,
    options: kind === 'store' ? { url } : { connection: url, queue: unique('q') },
    endings: [
      () => kill(1),
      () => kill(0.3),
      () => kill(0.3),
      () => proxy.cut(),
      () => proxy.cut(),
      () => server.restart(),
    ],
    stop: () => Promise.all([proxy.stop(), server.stop()]),
  }
}

async function onSqs(): Promise<Place> {
  const sqs = await startSqs()
  const proxy = await startCuttingProxy(Number(new URL(sqs.endpoint).port))
  const [queueUrl, deadLetters] = [await sqs.createQueue('events'), await sqs.createQueue('dead')]
  return {
    kind: 'sqs',
    options: { endpoint: `http://127.0.0.1:${proxy.port}`, queueUrl, deadLetters },
    endings: [() => proxy.cut(), () => proxy.cut()],
    stop: async () => {
      await proxy.stop()
      await sqs.stop()
    },
  }
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  'bullmqInbox on PostgreSQL': () => onPostgres(false),
  "bullmqInbox on a user's pool": () => onPostgres(true),
  'bullmqInbox on Redis': () => onRedis('bullmq'),
  redisStore: () => onRedis('store'),
  sqsInbox: onSqs,
}

/** Declares the campaign for each driver: its connections end at random moments for `ms`, and while it closes. */
export function endedConnections(ms: number): void {
  const options = { timeout: ms + 180_000, concurrent: true }
  test.each(Object.keys(PLACES))(
    'connections that end at random moments end no process and lose nothing: %s',
    options,
    async name => {
      const place = await PLACES[name]!()
      const platform = createPlatform()
      const child = fork(CHILD, [JSON.stringify({ place, secret: SECRET })], { execArgv: [], env: ENV })
      try {
        const [{ port }] = await once(child, 'message')
        const ended = await underLoad(platform, `http://127.0.0.1:${port}/`, () => endAtRandom(place, ms))
        const handled = new Set<string>()
        let uncaught: readonly string[] = []
        await until(
          'every acknowledged event is handled',
          async () => {
            const answer = await ask(child, 'handled')
            for (const id of answer.handled) handled.add(id)
            uncaught = answer.uncaught
            return [...platform.acked].every(id => handled.has(id)) || answer.uncaught.length > 0
          },
          120_000,
        )
        expect(uncaught).toEqual([])
        const closing = endAtRandom(place, 1000)
        expect((await ask(child, 'close')).uncaught).toEqual([])
        await closing
        expect((await ask(child, 'handled')).uncaught).toEqual([])
        process.stdout.write(
          `${name}: ended ${ended} times in ${ms / 1000} s, ${platform.acked.size} acknowledged, 0 lost, 0 uncaught\n`,
        )
        expect(platform.acked.size).toBeGreaterThan(0)
      } finally {
        platform.stop()
        child.kill('SIGKILL')
        await place.stop()
      }
    },
  )
}

const CHILD = fileURLToPath(new URL('receiver-child.mjs', import.meta.url))
/** Vitest's conditions would make the child load TypeScript sources. */
const ENV = { ...process.env, NODE_OPTIONS: '' }

interface Answer {
  readonly handled: readonly string[]
  readonly uncaught: readonly string[]
}

async function ask(child: ChildProcess, question: 'handled' | 'close'): Promise<Answer> {
  child.send(question)
  const settled = new AbortController()
  const { signal } = settled
  const ended = once(child, 'exit', { signal }).then(([code, name]) => {
    throw new Error(`the receiver ended with ${code ?? name}`)
  })
  ended.catch(() => {})
  const [answer] = await Promise.race([once(child, 'message', { signal }), ended]).finally(() =>
    settled.abort(),
  )
  return answer as Answer
}

async function endAtRandom({ endings }: Place, ms: number): Promise<number> {
  const endsAt = performance.now() + ms
  let count = 0
  for (; performance.now() < endsAt; count++) {
    // The last way takes the longest: the server restarts.
    const way = random() < 0.1 ? endings.length - 1 : Math.floor(random() * (endings.length - 1))
    await endings[way]!()
    // Mostly in quick succession, with time to recover now and then.
    await sleep(random() * (random() < 0.3 ? 1500 : 100))
  }
  return count
}

async function underLoad<T>(platform: Platform, url: string, work: () => Promise<T>): Promise<T> {
  let isSending = true
  let count = 0
  const senders = Array.from({ length: 16 }, async () => {
    while (isSending) {
      await platform.deliver(() => url, `evt_${count++}`)
      await sleep(5)
    }
  })
  const result = await work()
  isSending = false
  await Promise.all(senders)
  return result
}
