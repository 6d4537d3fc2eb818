import { join } from 'node:path'
import { scratchFolder, startPostgres, startRedis } from './engines.mjs'

/**
 * Receiver options for each way to keep events or ids, by its name. `places` has the servers' URLs and a folder, `name` is
 * that of the file or queue. Each loads only its own packages.
 */
const INBOXES = {
  memory: async () => ({}),
  redisStore: async ({ redis }) => {
    const { redisStore } = await import('@ackhook/redis')
    const { Redis } = await import('ioredis')
    return { store: redisStore(new Redis(redis)) }
  },
  sqliteInbox: async ({ folder }, name) => {
    const { sqliteInbox } = await import('@ackhook/sqlite')
    return { inbox: sqliteInbox(fileOf(folder, name)) }
  },
  'bullmqInbox on Redis': async ({ redis }, queue) => {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    return { inbox: bullmqInbox({ connection: redis, queue }) }
  },
  'bullmqInbox on PostgreSQL': async ({ postgres }, queue) => {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    return { inbox: bullmqInbox({ postgres: { connectionString: postgres, migrate: true }, queue }) }
  },
}

export const inboxNames = Object.keys(INBOXES)

/** @param {keyof typeof INBOXES} inbox */
export function openInbox(inbox, places, name) {
  return INBOXES[inbox](places, name)
}

export function fileOf(folder, name) {
  return join(folder, `${name}.db`)
}

/** Starts Redis, which writes to its disk every second, and PostgreSQL with its defaults, and passes them to `use`. */
export async function withServers(use) {
  const folder = scratchFolder()
  const redis = await startRedis({ appendonly: 'yes' })
  const postgres = await startPostgres()
  try {
    const places = { folder: folder.path, redis: redis.url, postgres: postgres.url }
    return await use({ places, redis, postgres, serverOf: inbox => serverOf(inbox, { redis, postgres }) })
  } finally {
    await redis.stop()
    await postgres.stop()
    folder.remove()
  }
}

/** Returns the server behind an inbox; none behind memory and SQLite. */
function serverOf(inbox, { redis, postgres }) {
  if (inbox.endsWith('PostgreSQL')) return postgres
  return inbox === 'memory' || inbox === 'sqliteInbox' ? undefined : redis
}
