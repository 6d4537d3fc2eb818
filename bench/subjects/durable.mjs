import { scratchFolder, startPostgres, startRedis } from '../lib/engines.mjs'
import { measureBullmq } from './durable/bullmq.mjs'
import { measureOverHttp } from './durable/http.mjs'
import { measureSlowDisk } from './durable/slow-disk.mjs'
import { measureSqlite } from './durable/sqlite.mjs'

/** Compares the events per second that a durable inbox stores with a raw loop on the same engine. */
export async function measureDurable({ quick }) {
  const folder = scratchFolder()
  const redis = await startRedis({ appendonly: 'yes' })
  const postgres = await startPostgres()
  try {
    const sqlite = await measureSqlite(folder.path, quick)
    const slowDisk = measureSlowDisk()
    const onRedis = await measureBullmq({ engine: 'redis', server: redis, quick })
    await redis.client.flushall()
    const onPostgres = await measureBullmq({ engine: 'postgres', server: postgres, quick })
    const http = await measureOverHttp({ folder: folder.path, redis, postgres, quick })
    return {
      markdown: [
        '## Durable inboxes',
        `2 KB bodies. Redis ${redis.version} with an append-only file flushed every second, PostgreSQL ${postgres.version} with its default settings, both on the same machine.`,
        sqlite.markdown,
        slowDisk.markdown,
        onRedis.markdown,
        onPostgres.markdown,
        http.markdown,
      ].join('\n\n'),
      figures: {
        sqlite: sqlite.figures,
        slowDisk: slowDisk.figures,
        bullmq: { redis: onRedis.figures, postgres: onPostgres.figures },
        http: http.figures,
      },
    }
  } finally {
    await redis.stop()
    await postgres.stop()
    folder.remove()
  }
}
