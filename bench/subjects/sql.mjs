import { setTimeout as sleep } from 'node:timers/promises'
import { createReceiver } from '@ackhook/core'
import { ddl, sqlEffects, sqlStore } from '@ackhook/sql'
import { createEvent, signedRequest } from '@ackhook/testing'
import pg from 'pg'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { startPostgres } from '../lib/engines.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const CONNECTIONS = 10
/** Short, so that other load on the machine slows both contenders of a round. */
const SAMPLE_MS = 150

/**
 * Compares `once` with the bare transaction, and a claim of `sqlStore` with a bare upsert by the same pool; then what a full
 * pool does to deliveries.
 */
export async function measureSql({ quick }) {
  const postgres = await startPostgres()
  const pool = new pg.Pool({ connectionString: postgres.url, max: CONNECTIONS })
  try {
    await pool.query(
      `${ddl('postgres')} CREATE TABLE effects (event text); CREATE TABLE bare (id text PRIMARY KEY, until bigint)`,
    )
    const once = await compare(oncePairs(pool), quick)
    const claims = await compare(claimPairs(pool), quick)
    const full = await fullPool(postgres.url, pool, quick)
    return {
      markdown: [
        '## PostgreSQL through @ackhook/sql',
        `PostgreSQL ${postgres.version} on the same machine, pg with ${CONNECTIONS} connections. Bare: a transaction with the handler's one INSERT; an INSERT … ON CONFLICT DO NOTHING by itself.`,
        once.markdown,
        claims.markdown,
        'Deliveries, 50 a second, while the application runs queries of 100 ms on its pool. With a store on that pool, and with one on a pool of three connections of its own.',
        full.markdown,
      ].join('\n\n'),
      figures: { once: once.figures, claims: claims.figures, full: full.figures },
    }
  } finally {
    await pool.end()
    await postgres.stop()
  }
}

let number = 0
const nextId = () => `evt_${String(number++).padStart(18, '0')}`

function oncePairs(pool) {
  const insert = (tx, id) => tx.query('INSERT INTO effects VALUES ($1)', [id])
  const handler = sqlEffects(pool).once('bench', ({ id }, tx) => insert(tx, id))
  const contextOf = () => ({ namespace: '', signal: new AbortController().signal })
  return {
    async 'bare transaction'() {
      const client = await pool.connect()
      await client.query('BEGIN')
      await insert(client, nextId())
      await client.query('COMMIT')
      client.release()
    },
    once: () => handler({ id: nextId() }, contextOf()),
  }
}

function claimPairs(pool) {
  const store = sqlStore(pool, { timeout: '10s' })
  const text = 'INSERT INTO bare VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1'
  return {
    'bare upsert': () => pool.query(text, [nextId(), Date.now()]),
    'sqlStore claim': () => store.claim(nextId(), 'token', { leaseMs: 60_000 }),
  }
}

async function compare(ways, quick) {
  const [bare, ours] = Object.keys(ways)
  const rows = []
  const figures = {}
  for (const inFlight of [1, 64]) {
    const measure = name => perSecond(ways[name], inFlight)
    for (let warmUp = 0; warmUp < 5; warmUp++) for (const name of [bare, ours]) await measure(name)
    const found = await compareRounds(inTurns([bare, ours], measure), {
      quick,
      ...{ fewest: 20, most: 150, seconds: 30 },
      decides: [['perSecond', ours, bare]],
    })
    const speed = found.ratioOf('perSecond', ours, bare)
    const rateOf = name => showNumber(found.middleOf('perSecond', name))
    rows.push([inFlight, rateOf(bare), rateOf(ours), showDecided(speed)])
    figures[inFlight] = { speed }
  }
  return { markdown: table(['in flight', `${bare} /s`, `${ours} /s`, 'ratio'], rows), figures }
}

async function perSecond(work, inFlight) {
  let calls = 0
  const start = performance.now()
  const lane = async () => {
    for (; performance.now() < start + SAMPLE_MS; calls++) await work()
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return { perSecond: (calls * 1000) / (performance.now() - start) }
}

/** Delivers events while the application keeps its pool busy. */
async function fullPool(url, pool, quick) {
  const own = new pg.Pool({ connectionString: url, max: 3 })
  const rows = []
  const figures = {}
  for (const queries of [0, CONNECTIONS, 4 * CONNECTIONS, 12 * CONNECTIONS]) {
    for (const [name, db] of Object.entries({ 'the same': pool, 'its own': own })) {
      const { refused, p50, p99 } = await deliveriesBeside(pool, sqlStore(db), queries, quick ? 2 : 15)
      rows.push([queries, name, showNumber(p50), showNumber(p99), `${Math.round(refused * 100)} %`])
      figures[`${queries} ${name}`] = { refused, p50, p99 }
    }
  }
  await own.end()
  const head = ['queries at a time', 'pool of the store', 'p50 ms', 'p99 ms', '503']
  return { markdown: table(head, rows), figures }
}

async function deliveriesBeside(pool, store, queries, seconds) {
  const secret = 'whsec_of_one_benchmark'
  const receiver = createReceiver({ secret, store, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', () => {})
  await receiver.start()
  let isBusy = true
  const lane = async () => {
    while (isBusy) await pool.query('SELECT pg_sleep(0.1)')
  }
  const lanes = Array.from({ length: queries }, lane)
  await sleep(200)
  const times = []
  let refused = 0
  const deliver = async () => {
    const request = signedRequest(createEvent('a.b', { id: nextId() }), { secret })
    const start = performance.now()
    const { status } = await receiver.handle(request)
    times.push(performance.now() - start)
    if (status === 503) refused++
  }
  const under = []
  for (let i = 0; i < seconds * 50; i++) {
    under.push(deliver())
    await sleep(20)
  }
  await Promise.all(under)
  isBusy = false
  await Promise.all(lanes)
  await receiver.close()
  times.sort((a, b) => a - b)
  const at = share => times[Math.floor((times.length - 1) * share)]
  return { refused: refused / times.length, p50: at(0.5), p99: at(0.99) }
}
