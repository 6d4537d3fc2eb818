import { bullmqInbox } from '@ackhook/bullmq'
import { sqliteInbox } from '@ackhook/sqlite'

/** Opens the inbox that several processes share: `url` is the server, or the file's folder. */
export function openInbox(engine, url, queue) {
  if (engine === 'SQLite') return sqliteInbox(`${url}/${queue}.db`)
  if (engine === 'Redis') return bullmqInbox({ connection: url, queue })
  return bullmqInbox({ postgres: { connectionString: url, migrate: true }, queue })
}
