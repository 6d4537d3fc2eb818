import { statSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileOf, inboxNames, withServers } from '../lib/inboxes.mjs'
import { median } from '../lib/interval.mjs'
import { offer, openLoaded, rateOf } from '../lib/offered.mjs'
import { showNumber, table } from '../lib/table.mjs'

const DURABLE = inboxNames.filter(one => one !== 'memory')
/** Retention of ids, the shortest that the tolerance of 10 s allows. After it, as many are forgotten as are added. */
const RETENTION_S = 20
const SAMPLES = 40
const HEAD = ['', 'events/s', 'events', 'RSS MB', 'last ÷ first', 'MB stored', 'last ÷ first']

/**
 * Offers half of what each durable inbox handles, for `seconds`, and watches the memory of its process and what it stores.
 *
 * @param {{ quick?: boolean, seconds?: number, inboxes?: readonly string[] }} options
 */
export async function measureSoak({ quick, seconds = quick ? 30 : 600, inboxes = DURABLE }) {
  const rows = []
  /** @type {Record<string, { seconds: number, perSecond: number, rss: number, stored: number }>} */
  const figures = {}
  for (const inbox of inboxes) {
    const one = await withServers(servers => soak(inbox, { ...servers, seconds }))
    figures[inbox] = { seconds, perSecond: one.perSecond, rss: one.rss.growth, stored: one.stored.growth }
    const cells = ({ last, growth }) => [showNumber(last / 1e6), growth.toFixed(2)]
    rows.push([
      ...[inbox, showNumber(one.perSecond), one.count.toLocaleString('en-GB')],
      ...[...cells(one.rss), ...cells(one.stored)],
    ])
  }
  const about = `Events of 2 KB over \`node:http\` for ${showNumber(seconds)} s, at half of the rate that was handled before, with ids for ${RETENTION_S} s. RSS: of the receiver's process. Stored: the SQLite file with its log, Redis' memory, PostgreSQL's tables and indexes. Medians of the last and of the first quarter of ${SAMPLES} samples, after a warm-up of ${warmUpOf(seconds)} s. Each run ends with an exact count: as many events sent as acknowledged, and each handled once.`
  return { markdown: ['## Soak', about, table(HEAD, rows)].join('\n\n'), figures }
}

async function soak(inbox, { places, serverOf, seconds }) {
  const loaded = await openLoaded(inbox, { places, retention: `${RETENTION_S}s` })
  try {
    const rates = []
    for (let round = 0; round < 5; round++) rates.push((await rateOf(loaded, 1)).handledPerSecond)
    const perSecond = median(rates) / 2
    const storedBytes =
      inbox === 'sqliteInbox'
        ? async () => bytesOfFile(fileOf(places.folder, 'http'))
        : () => serverOf(inbox).usedBytes()
    const samples = []
    const watch = async () => {
      await setTimeout(warmUpOf(seconds) * 1000)
      for (let sample = 0; sample < SAMPLES; sample++) {
        await setTimeout((seconds * 1000) / SAMPLES)
        const { memory } = await loaded.server.ask('state')
        samples.push({ rss: memory.rss, stored: await storedBytes() })
      }
    }
    const count = Math.round(perSecond * (warmUpOf(seconds) + seconds))
    await offer(loaded, { perSecond, count, during: watch })
    const growthOf = field => quartersOf(samples.map(sample => sample[field]))
    return { perSecond, count, rss: growthOf('rss'), stored: growthOf('stored') }
  } finally {
    await loaded.stop()
  }
}

/** Until ids are forgotten, the code is compiled, and a table has its dead rows of several rounds of a vacuum. */
function warmUpOf(seconds) {
  return Math.max(1.5 * RETENTION_S, Math.round(seconds / 4))
}

function quartersOf(values) {
  const quarter = values.length / 4
  const [first, last] = [median(values.slice(0, quarter)), median(values.slice(-quarter))]
  return { last, growth: last / first }
}

function bytesOfFile(path) {
  return ['', '-wal'].reduce((sum, end) => sum + statSync(path + end).size, 0)
}
