import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sqliteInbox } from '@ackhook/sqlite'
import { scratchFolder } from '../lib/engines.mjs'
import { interleave, median } from '../lib/rounds.mjs'
import { showNumber, table } from '../lib/table.mjs'
import { accepted, nextDelivery, started } from './durable/inbox.mjs'

const BODY = Buffer.from(JSON.stringify({ text: 'x'.repeat(489) }))
/** How many are stored with one wait for the disk. */
const AT_A_TIME = 500
const WAYS = { 'one key': () => 'cnv_1', 'a key each': index => `cnv_${index}` }

/** How fast `sqliteInbox` works off events that wait, of one `serializeBy` key, which run one after the other. */
export async function measureHotKey({ quick }) {
  const events = quick ? 3000 : 10_000
  const samples = await interleave(Object.keys(WAYS), {
    rounds: quick ? 3 : 9,
    warmUps: 1,
    measure: name => workOff(events, WAYS[name]),
  })
  const figures = Object.fromEntries(
    [...samples].map(([name, own]) => [
      name,
      { low: Math.min(...own), middle: median(own), high: Math.max(...own) },
    ]),
  )
  const rows = Object.entries(figures).map(([name, { low, middle, high }]) => [
    name,
    ...[low, middle, high].map(showNumber),
  ])
  return {
    markdown: `## One ordering key in SQLite\n\nEvents of 500 bytes that wait, handled a second, with 16 slots.\n\n${table(['', 'min', 'median', 'max'], rows)}`,
    figures,
  }
}

async function workOff(events, keyOf) {
  const folder = scratchFolder()
  const path = join(folder.path, 'inbox.db')
  const receiving = await started(sqliteInbox(path))
  const store = index =>
    accepted(receiving, { ...nextDelivery(), body: BODY, order: { key: keyOf(index), createdAt: index } })
  for (let stored = 0; stored < events; stored += AT_A_TIME) {
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => store(stored + index)))
  }
  await receiving.close(1000)
  let handled = 0
  const process = async () => {
    handled++
    return { outcome: 'completed' }
  }
  const working = sqliteInbox(path)
  await started(working, { concurrency: 16, process })
  const beganAt = performance.now()
  const before = handled
  while (handled < events) await setTimeout(1)
  const perSecond = (events - before) / ((performance.now() - beganAt) / 1000)
  await working.close(1000)
  folder.remove()
  return perSecond
}
