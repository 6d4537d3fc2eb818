import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { openSqlite } from '../../lib/open-sqlite.mjs'
import { compareAccepting } from './accepting.mjs'
import { accepted, nextDelivery, started } from './inbox.mjs'

const ALONE = 'transaction each'
const TOGETHER = 'raw group commit'
const OURS = 'sqliteInbox'

/** An event on the disk, fsync before each acknowledgement, nothing handled meanwhile. */
export async function measureSqlite(folder, quick) {
  const inbox = await started(sqliteInbox(join(folder, 'inbox.db')))
  const raw = await openRaw(join(folder, 'raw.db'))
  const ways = {
    [ALONE]: async () => raw.insertAlone(nextDelivery()),
    [TOGETHER]: () => raw.insertTogether(nextDelivery()),
    [OURS]: () => accepted(inbox),
  }
  const raws = { 1: ALONE, 64: TOGETHER, 256: TOGETHER }
  const { markdown, steps } = await compareAccepting(ways, { raw: raws, quick })
  await inbox.close(1000)
  raw.close()
  return {
    markdown: `### SQLite, accepting\n\nfsync before each acknowledgement, nothing handled meanwhile. The raw ways write on the main thread with the same driver: a transaction for each event, and all events of one turn of the event loop in one.\n\n${markdown}`,
    figures: {
      perSecond: steps[64].intervalOf('perSecond', OURS),
      toGroupCommit: steps[64].ratioOf('perSecond', OURS, TOGETHER),
      loopP99Ms: steps[64].intervalOf('loopP99Ms', OURS),
      aloneP50: steps[1].ratioOf('p50Ms', OURS, ALONE),
    },
  }
}

/** The same durability without an inbox around it: one table, WAL, synchronous=FULL. */
async function openRaw(path) {
  const database = await openSqlite(path)
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=10000')
  database.exec(
    'CREATE TABLE events (key TEXT PRIMARY KEY, type TEXT, body BLOB, received_at INTEGER) WITHOUT ROWID',
  )
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
  const write = ({ key, type, body, receivedAt }) => insert.run(key, type, body, receivedAt)
  let waiting = []

  function commit(deliveries) {
    database.exec('BEGIN IMMEDIATE')
    for (const delivery of deliveries) write(delivery)
    database.exec('COMMIT')
  }

  return {
    insertAlone: delivery => commit([delivery]),
    insertTogether(delivery) {
      return new Promise(resolve => {
        if (waiting.push({ delivery, resolve }) > 1) return
        setImmediate(() => {
          const group = waiting
          waiting = []
          commit(group.map(one => one.delivery))
          for (const one of group) one.resolve()
        })
      })
    },
    close: () => database.close(),
  }
}
