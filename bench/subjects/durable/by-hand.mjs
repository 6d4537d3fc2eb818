import { createPostgresBackend, Queue, Worker, withBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { createVerifyByHand } from '../../by-hand/verify.mjs'
import { SECRET } from '../../lib/dialects.mjs'
import { fileOf } from '../../lib/inboxes.mjs'
import { openSqlite } from '../../lib/open-sqlite.mjs'

const CLAIM_MS = 60_000
const WEEK_MS = 604_800_000
const JOB = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 1000 },
  removeOnComplete: { age: WEEK_MS / 1000 },
}
const verify = createVerifyByHand(SECRET)

/**
 * What one would write by hand on the bare engine, with the same durability: verify, parse, store, acknowledge, handle, and
 * remember the id. Without leases, time limits, a limit on what waits, a drain, or anything for several processes.
 */
export const BY_HAND = {
  redisStore: openClaims,
  sqliteInbox: openTable,
  'bullmqInbox on Redis': ({ redis }, name, settings) =>
    openQueue(Queue, Worker, { url: redis }, name, settings),
  'bullmqInbox on PostgreSQL': ({ postgres }, name, settings) => {
    const { Queue, Worker } = withBackend(createPostgresBackend)
    return openQueue(Queue, Worker, { connectionString: postgres, migrate: true }, name, settings)
  },
}

function read({ headers, body }) {
  if (!verify(headers['x-service-signature'], body)) throw new Error('a good request was refused')
  return JSON.parse(body.toString())
}

async function openQueue(BareQueue, BareWorker, connection, name, { handle, concurrency }) {
  const queue = new BareQueue(name, { connection })
  const worker = new BareWorker(name, job => handle(job.data), { connection, concurrency })
  return {
    async accept(request) {
      const event = read(request)
      await queue.add(event.type, event, { ...JOB, jobId: event.id })
      return true
    },
    async close() {
      await worker.close()
      await queue.close()
    },
  }
}

/** Returns a function that runs each event after this turn of the event loop, and at most `concurrency` at a time. */
function inSlots(concurrency, run) {
  const waiting = []
  let free = concurrency
  const work = async () => {
    while (waiting.length > 0) await run(waiting.shift())
    free++
  }
  return event => {
    waiting.push(event)
    if (free > 0) {
      free--
      setImmediate(work)
    }
  }
}

async function openClaims({ redis }, _name, { handle, concurrency }) {
  const client = new Redis(redis)
  const run = inSlots(concurrency, async event => {
    await handle(event)
    await client.set(event.id, 'done', 'PX', WEEK_MS)
  })
  return {
    async accept(request) {
      const event = read(request)
      const isNew = (await client.set(event.id, 'claimed', 'PX', CLAIM_MS, 'NX')) === 'OK'
      if (isNew) run(event)
      return isNew
    },
    close: () => client.quit(),
  }
}

/** With WAL and synchronous=FULL, and one commit for all that a turn of the event loop has brought. */
async function openTable({ folder }, name, { handle, concurrency }) {
  const database = await openSqlite(fileOf(folder, name))
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=10000')
  database.exec('CREATE TABLE events (id TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID')
  database.exec('CREATE TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID')
  const known = database.prepare('SELECT 1 FROM ids WHERE id = ?')
  const insert = database.prepare('INSERT INTO events VALUES (?, ?) ON CONFLICT DO NOTHING')
  const remove = database.prepare('DELETE FROM events WHERE id = ?')
  const remember = database.prepare('INSERT INTO ids VALUES (?)')
  let waiting = []
  const commit = write =>
    new Promise(resolve => {
      if (waiting.push({ write, resolve }) > 1) return
      setImmediate(() => {
        const group = waiting
        waiting = []
        database.exec('BEGIN IMMEDIATE')
        for (const one of group) one.write()
        database.exec('COMMIT')
        for (const one of group) one.resolve()
      })
    })
  const run = inSlots(concurrency, async event => {
    await handle(event)
    await commit(() => {
      remove.run(event.id)
      remember.run(event.id)
    })
  })
  return {
    async accept(request) {
      const event = read(request)
      await commit(() => known.get(event.id) ?? insert.run(event.id, request.body))
      run(event)
      return true
    },
    async close() {
      await commit(() => {})
      database.close()
    },
  }
}
