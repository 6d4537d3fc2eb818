import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { scratchFolder } from '../../lib/engines.mjs'
import { fillBacklog, fillIds } from '../../lib/fill-sqlite.mjs'

const WEEK_MS = 604_800_000

/** Opens a file for each state. */
export async function openSqlite() {
  const folder = scratchFolder()
  const pathOf = state => join(folder.path, `${state}.db`)
  return {
    title: 'SQLite',
    inbox: state => sqliteInbox(pathOf(state)),
    async fill(state, { ids = 0, backlog = 0 }) {
      const path = pathOf(state)
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
      await fillIds(path, ids, Date.now() + WEEK_MS)
      const empty = ids + backlog === 0 ? 0 : statSync(path).size
      if (backlog > 0) await fillBacklog(path, backlog)
      const added = statSync(path).size - (backlog > 0 ? empty : 0)
      return added / Math.max(1, ids + backlog)
    },
    /** Returns 0: SQLite has no server, it runs in this process. */
    cpuUs: async () => 0,
    stop: () => folder.remove(),
  }
}
