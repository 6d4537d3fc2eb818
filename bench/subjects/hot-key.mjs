import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { bullmqInbox } from '@ackhook/bullmq'
import { sqliteInbox } from '@ackhook/sqlite'
import { scratchFolder, startPostgres } from '../lib/engines.mjs'
import { interleave, median } from '../lib/rounds.mjs'
import { showNumber, table } from '../lib/table.mjs'
import { accepted, nextDelivery, started } from './durable/inbox.mjs'

const BODY = Buffer.from(JSON.stringify({ text: 'x'.repeat(489) }))
/** Events stored with one wait for the disk. */
const AT_A_TIME = 500
const HOT = 'cnv_1'
/** Returns each event's key. Ways named `others` count only events without the hot key. */
const WAYS = {
  'one key': () => HOT,
  'a key each': index => `cnv_${index}`,
  'no key': () => undefined,
  'others, every tenth event of one key': index => (index % 10 === 0 ? HOT : `cnv_${index}`),
  'others, every tenth event without its key': index => `cnv_${index}`,
}

/** Measures how fast a backlog is handled: events of one `serializeBy` key, which run one by one, and others. */
export async function measureHotKey({ quick }) {
  const postgres = await startPostgres()
  // PostgreSQL handles one key at a tenth of the speed.
  const places = {
    SQLite: { open: inSqlite, events: quick ? 3000 : 10_000 },
    PostgreSQL: { open: () => inPostgres(postgres.url), events: quick ? 500 : 2000 },
  }
  const figures = {}
  const names = Object.keys(places).flatMap(place => Object.keys(WAYS).map(way => `${place}: ${way}`))
  const samples = await interleave(names, {
    rounds: quick ? 3 : 5,
    warmUps: 1,
    measure: name => {
      const [place, way] = name.split(': ')
      const { open, events } = places[place]
      return workOff(open(), events, WAYS[way], way.startsWith('others'))
    },
  })
  await postgres.stop()
  for (const [name, own] of samples) {
    figures[name] = { low: Math.min(...own), middle: median(own), high: Math.max(...own) }
  }
  const rows = Object.entries(figures).map(([name, { low, middle, high }]) => [
    name,
    ...[low, middle, high].map(showNumber),
  ])
  return {
    markdown: `## One ordering key\n\nWaiting events of 500 bytes handled per second, with 16 slots.\n\n${table(['', 'min', 'median', 'max'], rows)}`,
    figures,
  }
}

function inSqlite() {
  const folder = scratchFolder()
  const path = join(folder.path, 'inbox.db')
  return { create: () => sqliteInbox(path), remove: () => folder.remove() }
}

function inPostgres(connectionString) {
  const queue = `hot-${nextDelivery().key}`
  const postgres = { connectionString, migrate: true }
  return { create: () => bullmqInbox({ postgres, queue }), remove() {} }
}

async function workOff(place, events, keyOf, othersOnly) {
  const isOther = index => !othersOnly || index % 10 !== 0
  const receiving = await started(place.create(), { serialize: true })
  const others = new Set()
  const store = index => {
    const key = keyOf(index)
    const delivery = { ...nextDelivery(), body: BODY, ...(key && { order: { key, createdAt: index } }) }
    if (isOther(index)) others.add(delivery.id)
    return accepted(receiving, delivery)
  }
  for (let stored = 0; stored < events; stored += AT_A_TIME) {
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => store(stored + index)))
  }
  await receiving.close(1000)
  const counted = others.size
  let handled = 0
  const process = async ({ id }) => {
    if (others.has(id)) handled++
    return { outcome: 'completed' }
  }
  const working = place.create()
  await started(working, { concurrency: 16, process, serialize: true })
  const beganAt = performance.now()
  const before = handled
  while (handled < counted) await setTimeout(1)
  const perSecond = (counted - before) / ((performance.now() - beganAt) / 1000)
  await working.close(1000)
  place.remove()
  return perSecond
}
