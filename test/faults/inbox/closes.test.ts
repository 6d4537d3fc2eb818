import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redisStore } from '@ackhook/redis'
import { sqliteInbox } from '@ackhook/sqlite'
import { Redis } from 'ioredis'
import { inFull } from '../../support/in-full.ts'
import { startRedis } from '../../support/redis.ts'
import { closes, type Place } from '../bullmq/closes.ts'

/** Opens the default inbox with ids that all receivers share. */
async function memoryWithRedis(): Promise<Place> {
  const server = await startRedis()
  const client = new Redis(server.url)
  return {
    options: () => ({ store: redisStore(client) }),
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}

/** Opens the same database each time, as after a restart. */
async function sqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-closes-'))
  return {
    options: () => ({ inbox: sqliteInbox(join(folder, 'inbox.db')) }),
    stop: async () => rmSync(folder, { recursive: true }),
  }
}

closes(inFull(100, 8), [
  ['memory with redisStore', memoryWithRedis],
  ['SQLite', sqlite],
])
