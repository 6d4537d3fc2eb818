// An application under fault: plain Node on the built package, in its own process that can be killed. Its settings come as
// JSON in the first argument. A fault is written to the ledger before it happens: what is appended to a file survives.
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlEffects } from '@ackhook/sql'
import { seededRandom } from '@ackhook/testing'

const { dialect, address, ledger, recipe, rate, seed, events } = JSON.parse(process.argv[2])
const CONCURRENCY = 8
const HANDLERS = ['first', 'second']

const random = seededRandom(seed)
let hasBegun = false
const note = word => appendFileSync(ledger, `${word}\n`)
const quoted = text => `'${text}'`

const DRIVERS = {
  async postgres() {
    const { Pool } = await import('pg')
    const db = new Pool({ connectionString: address, max: CONCURRENCY })
    db.on('error', () => {})
    return {
      db,
      run: (connection, text) => connection.query(text),
      insertMark: async values =>
        (await db.query(`INSERT INTO ackhook_marks VALUES (${values}, 0) ON CONFLICT DO NOTHING`))
          .rowCount === 1,
      loseConnection: tx => tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
      close: () => db.end(),
    }
  },
  async mysql() {
    const { createPool } = await import('mysql2/promise')
    const db = createPool({ uri: address, connectionLimit: CONCURRENCY })
    return {
      db,
      run: (connection, text) => connection.query(text),
      insertMark: async values =>
        (await db.query(`INSERT IGNORE INTO ackhook_marks VALUES (${values}, 0)`))[0].affectedRows === 1,
      loseConnection: tx => tx.query('KILL CONNECTION_ID()'),
      close: () => db.end(),
    }
  },
  async sqlite() {
    const db = openFile(address)
    return {
      db,
      run: async (connection, text) => connection.exec(text),
      insertMark: async values =>
        Number(db.prepare(`INSERT OR IGNORE INTO ackhook_marks VALUES (${values}, 0)`).run().changes) === 1,
      close: async () => db.close(),
    }
  },
}

function openFile(path) {
  const load = createRequire(import.meta.url)
  let Database
  try {
    Database = load('node:sqlite').DatabaseSync
  } catch {
    Database = load('@photostructure/sqlite').DatabaseSync
  }
  const file = new Database(path)
  file.exec('PRAGMA busy_timeout = 50')
  return file
}

const driver = await DRIVERS[dialect]()

/** What a handler does, with faults before and after its write. `on` is a transaction, or the database itself. */
async function work(on, event, handler) {
  note('begun')
  if (!hasBegun) process.send('begun')
  hasBegun = true
  try {
    fault()
    await driver.run(on, `INSERT INTO effects VALUES (${quoted(event)}, ${quoted(handler)})`)
    // Transactions stay open for a while, so that a kill finds some.
    await sleep(random() * 40)
    fault()
    if (driver.loseConnection === undefined || on === driver.db || random() >= rate / 2) return
    note('lost')
    await driver.loseConnection(on)
  } finally {
    note('ended')
  }
}

function fault() {
  if (random() >= rate / 2) return
  note('thrown')
  throw new Error('a fault')
}

const markOf = (event, handler) => `${quoted(event)}, ${quoted(handler)}, ''`

/** Each returns a handler. The last two are the controls: what people write without this package. */
const RECIPES = {
  once(name) {
    const handler = once(name, (event, tx) => work(tx, event.id, name))
    return id => handler({ id }, { namespace: '', signal: new AbortController().signal })
  },
  'mark that commits by itself': name => async id => {
    if (await driver.insertMark(markOf(id, name))) await work(driver.db, id, name)
  },
  'mark after the effect': name => async id => {
    const where = `event_id = ${quoted(id)} AND handler = ${quoted(name)}`
    if (await isThere(`SELECT 1 FROM ackhook_marks WHERE ${where}`)) return
    await work(driver.db, id, name)
    await driver.insertMark(markOf(id, name))
  },
}

async function isThere(text) {
  if (dialect === 'sqlite') return driver.db.prepare(text).all().length > 0
  const reply = await driver.db.query(text)
  return (Array.isArray(reply) ? reply[0] : reply.rows).length > 0
}

const { once } = sqlEffects(driver.db, { wait: '10s' })
const handlers = HANDLERS.map(name => RECIPES[recipe](name))
const queue = [...events]
for (let i = queue.length - 1; i > 0; i--) {
  const j = Math.floor(random() * (i + 1))
  ;[queue[i], queue[j]] = [queue[j], queue[i]]
}

/** As an inbox: an attempt at all handlers of an event, and another one if any of them failed. */
async function takeEvents() {
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    const results = await Promise.allSettled(handlers.map(handler => handler(id)))
    if (results.every(({ status }) => status === 'fulfilled')) continue
    queue.push(id)
    await sleep(random() * 10)
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, takeEvents))
await driver.close()
process.disconnect()
