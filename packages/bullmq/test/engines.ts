import { type BullmqInboxOptions, bullmqInbox } from '@ackhook/bullmq'
import type { Inbox } from '@ackhook/core'
import { createPostgresBackend, Queue, type QueueOptions, runMigrations, withBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { startPostgres } from '../../../test/support/postgres.ts'
import { startRedis } from '../../../test/support/redis.ts'
import { OURS, storedQueue } from '../src/engine/form.ts'

/** One real server with BullMQ, for tests that run on both engines. */
export interface TestEngine {
  readonly name: 'Redis' | 'PostgreSQL'
  /** The inbox options that locate the server. */
  readonly options: Pick<BullmqInboxOptions, 'connection' | 'postgres'>
  readonly port: number
  /** The same options, through a proxy at another port. */
  optionsAt(port: number): TestEngine['options']
  /** An inbox on a queue of this server. */
  inbox(queue: string, options?: BullmqInboxOptions): Inbox
  /** BullMQ's own view of the queue. */
  queue(name: string, options?: Pick<QueueOptions, 'skipMetasUpdate'>): Queue
  /** Stores this many stalls of the job, each of an attempt that had begun. */
  crash(queue: string, jobId: string, times: number): Promise<unknown>
  /** Gives the job's lock to another worker, as after an expired lease. */
  steal(queue: string, jobId: string): Promise<unknown>
  /** Returns the job to the queue, as after an expired lease. With `attempts` 1, as if another worker then took it and died. */
  expire(queue: string, jobId: string, attempts?: number): Promise<unknown>
  /** Makes the postponed events of the queue long overdue. */
  age(queue: string): Promise<unknown>
  /** Returns the ids of the processes that the server stores for the queue, expired or not. */
  published(queue: string): Promise<readonly string[]>
  /** Makes the server refuse every write until called with `false`. */
  failWrites(isFailing: boolean): Promise<void>
  /** Suspends the server with its connections open, if it is one process. */
  pause?(): void
  resume?(): void
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function redisEngine(config: Readonly<Record<string, string>> = {}): Promise<TestEngine> {
  const server = await startRedis({ config })
  const connection = server.url
  return {
    name: 'Redis',
    options: { connection },
    port: server.port,
    optionsAt: port => ({ connection: connection.replace(String(server.port), String(port)) }),
    inbox: (queue, options) => bullmqInbox({ connection, queue, lease: '1s', ...options }),
    queue: (name, options) =>
      new Queue(storedQueue(name), { ...options, connection: { host: server.host, port: server.port } }).on(
        'error',
        () => {},
      ),
    async crash(queue, jobId, times) {
      const client = new Redis(server.url)
      await client.hset(`bull:${storedQueue(queue)}:${jobId}`, {
        stc: times,
        progress: begunAfter(times - 1),
      })
      client.disconnect()
    },
    async age(queue) {
      const client = new Redis(server.url)
      const key = `bull:${storedQueue(queue)}:ackhook-postponed`
      for (const id of await client.zrange(key, '0', '-1')) await client.zadd(key, '1', id)
      client.disconnect()
    },
    async published(queue) {
      const client = new Redis(server.url)
      const ids = await client.zrange(`bull:${storedQueue(queue)}:ackhook-processes`, '0', '-1')
      const known = await client.hkeys(`bull:${storedQueue(queue)}:ackhook-handlers`)
      client.disconnect()
      return [...new Set([...ids, ...known])]
    },
    async steal(queue, jobId) {
      const client = new Redis(server.url)
      await client.set(`bull:${storedQueue(queue)}:${jobId}:lock`, 'of another worker', 'PX', 60_000)
      client.disconnect()
    },
    async expire(queue, jobId, attempts = 0) {
      const client = new Redis(server.url)
      const key = `bull:${storedQueue(queue)}:${jobId}`
      await client
        .multi()
        .del(`${key}:lock`)
        .lrem(`bull:${storedQueue(queue)}:active`, 1, jobId)
        .rpush(`bull:${storedQueue(queue)}:wait`, jobId)
        .hincrby(key, 'stc', 1)
        .hincrby(key, 'ats', attempts)
        .exec()
      client.disconnect()
    },
    async failWrites(isFailing) {
      const client = new Redis(server.url)
      await client.config('SET', 'min-replicas-to-write', isFailing ? '1' : '0')
      client.disconnect()
    },
    pause: () => server.pause(),
    resume: () => server.resume(),
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  }
}

export async function postgresEngine(config: Readonly<Record<string, string>> = {}): Promise<TestEngine> {
  const server = await startPostgres({ config })
  await migrate(server.url)
  const query = async (text: string, values: unknown[]) => {
    const pool = new Pool({ connectionString: server.url, options: '-c search_path=bullmq' })
    const { rows } = await pool.query(text, values)
    await pool.end()
    return rows
  }
  const Backed = withBackend(createPostgresBackend).Queue
  return {
    name: 'PostgreSQL',
    options: { postgres: server.url },
    port: server.port,
    optionsAt: port => ({ postgres: server.url.replace(String(server.port), String(port)) }),
    inbox: (queue, options) => bullmqInbox({ postgres: server.url, queue, lease: '1s', ...options }),
    queue: (name, options) =>
      new Backed(storedQueue(name), { ...options, connection: server.url }).on(
        'error',
        () => {},
      ) as unknown as Queue,
    async crash(queue, jobId, times) {
      const text = 'UPDATE job SET stalled_count = $3, progress = $4 WHERE queue = $1 AND id = $2'
      await query(text, [storedQueue(queue), jobId, times, begunAfter(times - 1)])
    },
    async age(queue) {
      await query(`UPDATE ${OURS}postponed SET due_at = 'epoch' WHERE queue = $1`, [storedQueue(queue)])
    },
    async published(queue) {
      const rows = await query(`SELECT id FROM ${OURS}process WHERE queue = $1`, [storedQueue(queue)])
      return rows.map(({ id }) => id)
    },
    async steal(queue, jobId) {
      const values = [storedQueue(queue), jobId, 'of another worker']
      await query('UPDATE job SET lock_token = $3 WHERE queue = $1 AND id = $2', values)
    },
    async expire(queue, jobId, attempts = 0) {
      const text = `UPDATE job SET state = 'waiting', lock_token = NULL, locked_until_ms = NULL,
        stalled_count = stalled_count + 1, attempts_started = attempts_started + $3 WHERE queue = $1 AND id = $2`
      await query(text, [storedQueue(queue), jobId, attempts])
    },
    async failWrites(isFailing) {
      await query(`ALTER SYSTEM SET default_transaction_read_only = ${isFailing ? 'on' : 'off'}`, [])
      await query('SELECT pg_reload_conf()', [])
      const shown = async () => (await query('SHOW default_transaction_read_only', []))[0]
      while ((await shown()).default_transaction_read_only !== (isFailing ? 'on' : 'off'));
    },
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  }
}

/** The progress of a job of which another attempt has begun after this many crashes in a row. */
export function begunAfter(crashes: number): string {
  return JSON.stringify({ begun: { crashes, stalls: crashes } })
}

/** Creates BullMQ's tables, as a deployment does once. */
export async function migrate(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url })
  const client = await pool.connect()
  try {
    await runMigrations(client)
  } finally {
    client.release()
    await pool.end()
  }
}
