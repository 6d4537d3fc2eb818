import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { bullmqInbox } from '@ackhook/bullmq'
import { sqliteInbox } from '@ackhook/sqlite'
import { Queue } from 'bullmq'
import { scratchFolder, startRedis } from '../lib/engines.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { keepInFlight } from '../lib/in-flight.mjs'
import { load } from '../lib/load.mjs'
import { openSqlite } from '../lib/open-sqlite.mjs'
import { interleave, median, ratio } from '../lib/rounds.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'

const { bytes: BODY } = eventBody(2000)
const JOB = { attempts: 8, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: { age: 604_800 } }

/** Events a second that a durable inbox makes safe, against a raw loop on the same engine. */
export async function measureDurable({ quick }) {
  const rounds = quick ? 3 : 5
  const folder = scratchFolder()
  const redis = await startRedis({ appendonly: 'yes' })
  try {
    return [
      '## Durable inboxes',
      '`accept` of 2 KB bodies, nothing handled meanwhile. SQLite: fsync before each acknowledgement, against a transaction for each event and against a raw group commit, both on the main thread with the same driver. BullMQ: Redis with an append-only file flushed every second, against a bare `queue.add` with a job id.',
      await sqlite(folder.path, rounds),
      await bullmq(redis, rounds),
      await overHttp({ folder: folder.path, redis }, rounds),
    ].join('\n\n')
  } finally {
    await redis.stop()
    folder.remove()
  }
}

function nextDelivery() {
  const key = randomBytes(16).toString('base64url')
  return {
    key,
    namespace: '',
    id: `evt_${key}`,
    type: 'conversation.resolved',
    body: BODY,
    fingerprint: 1,
    receivedAt: Date.now(),
  }
}

/** `concurrency: 0`: the inbox only receives, so that only accepting is measured. */
async function started(inbox) {
  await inbox.start(async () => ({ outcome: 'completed' }), {
    acknowledge: 'immediately',
    concurrency: 0,
    capacity: 100_000_000,
    retry: { attempts: 8, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 },
    retentionMs: 604_800_000,
    serialize: false,
    clock: Date.now,
    observe() {},
    logger: console,
  })
  return inbox
}

async function sqlite(folder, rounds) {
  const inbox = await started(sqliteInbox(join(folder, 'inbox.db')))
  const raw = await openRaw(join(folder, 'raw.db'))
  const ways = {
    'transaction each': async () => raw.insertAlone(nextDelivery()),
    'raw group commit': () => raw.insertTogether(nextDelivery()),
    sqliteInbox: () => accepted(inbox, nextDelivery()),
  }
  const answer = await compare(ways, [1, 64, 256], rounds)
  await inbox.close(1000)
  raw.close()
  return `### SQLite\n\n${answer}`
}

async function bullmq(redis, rounds) {
  const inbox = await started(bullmqInbox({ connection: redis.url, queue: 'ours' }))
  const queue = new Queue('bare', { connection: { url: redis.url } })
  const ways = {
    'queue.add': () => {
      const { key, body, type, receivedAt } = nextDelivery()
      return queue.add(type, { receivedAt, body: body.toString('base64') }, { ...JOB, jobId: `e-${key}` })
    },
    bullmqInbox: () => accepted(inbox, nextDelivery()),
  }
  const answer = await compare(ways, [1, 64], rounds)
  await inbox.close(1000)
  await queue.close()
  await redis.client.flushall()
  return `### BullMQ on Redis\n\n${answer}`
}

async function accepted(inbox, delivery) {
  const { outcome } = await inbox.accept(delivery)
  if (outcome !== 'accepted') throw new Error(`the inbox answered ${outcome}`)
}

/** Ratios are to the way before the last: the raw loop. */
async function compare(ways, steps, rounds) {
  const names = Object.keys(ways)
  const rows = []
  for (const inFlight of steps) {
    const samples = await interleave(names, {
      rounds: rounds + 1,
      measure: name => keepInFlight(ways[name], { inFlight, ms: 500 }),
    })
    const base = samples.get(names.at(-2)).slice(1)
    for (const name of names) {
      const own = samples.get(name).slice(1)
      const speeds = list => list.map(sample => sample.perSecond)
      rows.push([
        `${name}, ${inFlight} in flight`,
        showNumber(median(speeds(own))),
        showRatio(ratio(speeds(own), speeds(base))),
        showNumber(median(own.map(sample => sample.p50Ms))),
        showNumber(median(own.map(sample => sample.p99Ms))),
      ])
    }
  }
  return table(['', 'events/s', 'ratio to the raw loop', 'p50 ms', 'p99 ms'], rows)
}

/** The same table and durability without the inbox around it. */
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

async function overHttp({ folder, redis }, rounds) {
  const variants = ['ackhook', 'ackhook, sqlite', 'ackhook, bullmq']
  const env = { BENCH_SQLITE_PATH: join(folder, 'http.db'), BENCH_REDIS_URL: redis.url }
  const servers = new Map()
  for (const variant of variants) servers.set(variant, await startServer('node-http', variant, { env }))
  const run = (variant, seconds) =>
    load({ port: servers.get(variant).port, body: eventBody(2000), connections: 64, seconds })
  for (const variant of variants) await run(variant, 2)
  const samples = await interleave(variants, {
    rounds,
    async measure(variant) {
      await servers.get(variant).ask('reset')
      const result = await run(variant, 1.2)
      return { ...result, loopP99Ms: (await servers.get(variant).ask('state')).loopP99Ms }
    },
  })
  for (const server of servers.values()) await server.stop()
  const base = samples.get('ackhook').map(sample => sample.perSecond)
  const rows = variants.map(variant => {
    const own = samples.get(variant)
    const speeds = own.map(sample => sample.perSecond)
    return [
      variant === 'ackhook' ? 'ackhook, memory' : variant,
      showNumber(median(speeds)),
      showRatio(ratio(speeds, base)),
      showNumber(median(own.map(sample => sample.p99Ms))),
      showNumber(median(own.map(sample => sample.loopP99Ms))),
    ]
  })
  return `### Over HTTP\n\n\`node:http\`, 2 KB, 64 connections, events handled at the same time.\n\n${table(['', 'requests/s', 'ratio', 'p99 ms', 'event loop p99 ms'], rows)}`
}
