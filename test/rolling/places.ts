import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { migrate } from '../../packages/bullmq/test/engines.ts'
import { startPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { startSqs } from '../support/sqs.ts'
import type { Feature, Place } from './rolling-process.ts'

const stops: (() => unknown)[] = []
let count = 0

/** Starts a server when a test first needs it, and stops it after the last one. */
function lazily<T extends { stop(): unknown }>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  stops.push(async () => (await started)?.stop())
  return () => {
    started ??= start()
    return started
  }
}

export function stopAfterAll(): void {
  afterAll(async () => {
    for (const stop of stops) await stop()
  })
}

export const redis = lazily(() => startRedis({ config: { appendonly: 'yes' } }))
export const postgres = lazily(async () => {
  const server = await startPostgres()
  await migrate(server.url)
  return server
})
const sqs = lazily(startSqs)

/** An inbox, where its number stands, and the features that change what it stores, or how what it stores is read. */
export interface RollingInbox {
  /** File and name of the constant: the commit that last raised it is the oldest version on the store. */
  readonly form: readonly [file: string, constant: string]
  readonly features: readonly Feature[]
  /** A place of its own. */
  place(): Promise<Place>
}

const BULLMQ = ['packages/bullmq/src/engine/form.ts', 'FORM'] as const
const REDIS = ['packages/redis/src/options.ts', 'FORM'] as const

export const INBOXES: Readonly<Record<string, RollingInbox>> = {
  sqliteInbox: {
    form: ['packages/sqlite/src/storage/schema/schema.ts', 'SCHEMA_VERSION'],
    features: ['sealing', 'pause', 'order', 'fairness'],
    async place() {
      const folder = mkdtempSync(join(tmpdir(), 'ackhook-rolling-'))
      stops.push(() => rmSync(folder, { recursive: true, force: true }))
      return { kind: 'sqlite', path: join(folder, 'webhooks.db') }
    },
  },
  'bullmqInbox on Redis': {
    form: BULLMQ,
    features: ['sealing', 'pause'],
    place: async () => ({ kind: 'bullmq', connection: (await redis()).url, queue: `rolling-${count++}` }),
  },
  'bullmqInbox on PostgreSQL': {
    form: BULLMQ,
    features: ['sealing', 'pause', 'order'],
    place: async () => ({ kind: 'bullmq', postgres: (await postgres()).url, queue: `rolling-${count++}` }),
  },
  'memoryInbox with redisStore': {
    form: REDIS,
    features: ['after-processing'],
    async place() {
      const server = await redis()
      return { kind: 'memory', url: `${server.url}/${(count++ % 15) + 1}` }
    },
  },
  'sqsInbox on a FIFO queue': {
    form: ['packages/core/src/inbox/push/envelope.ts', 'VERSION'],
    features: ['order'],
    async place() {
      const [server, { url }] = [await sqs(), await redis()]
      const name = (kind: string) => `${kind}-${count++}.fifo`
      return {
        kind: 'sqs',
        endpoint: server.endpoint,
        queueUrl: await server.createQueue(name('events')),
        deadLetters: await server.createQueue(name('dead')),
        url: `${url}/${(count++ % 15) + 1}`,
      }
    },
  },
}
