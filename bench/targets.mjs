import { showNumber, table } from './lib/table.mjs'

/** What "does not grow" may mean on a machine whose figures move by 10 to 20 % from run to run. */
const LEVEL = 1.2
const FRAMEWORKS = { 'node-http': 'node:http', express: 'Express', fastify: 'Fastify', hono: 'Hono' }
/** How much faster ours has to be. The others are shown beside the targets, in the table of HTTP. */
const PEERS = { octokit: 1.3, stripe: 1.3, svix: 1.5, tern: 1.5 }

/**
 * Every target, with what was measured and whether it is met: the median of the rounds decides.
 *
 * @param {{ subject: string, node: number, figures: any }[]} sections
 */
export function targetsTable(sections) {
  const rows = sections.flatMap(({ subject, node, figures }) => {
    const targets = TARGETS[subject]?.(figures) ?? []
    return targets
      .filter(one => one.measured !== undefined)
      .map(one => [one.what, one.limit, node, ...verdictOf(one)])
  })
  const missed = rows.filter(row => row.at(-1) !== 'met').length
  return [
    '## Targets',
    `${rows.length - missed} of ${rows.length} met: a target counts as met when the median of the rounds meets it, and as undecided when it lies inside an interval that is wider than ±5 %. [PROFILE.md](PROFILE.md) says where the time goes in what is missed, and how to see it.`,
    table(['', 'target', 'Node', 'measured', ''], rows),
  ].join('\n\n')
}

function verdictOf({ measured, least, most }) {
  const { middle, low, high } = typeof measured === 'number' ? { middle: measured } : measured
  const shown = low === undefined ? show(middle) : `${show(middle)} (${show(low)} to ${show(high)})`
  // A wide interval that holds the limit could turn out either way.
  if (measured.isNarrow === false && low < (least ?? most) && (least ?? most) < high)
    return [shown, 'undecided']
  const isMet = least === undefined ? middle <= most : middle >= least
  return [shown, isMet ? 'met' : '[missed](PROFILE.md)']
}

function show(value) {
  return Math.abs(value) < 10 ? value.toFixed(2) : showNumber(value)
}

const atLeast = (what, least, measured, unit = '') => ({
  ...{ what, measured, least },
  limit: `at least ${least.toLocaleString('en-GB')}${unit}`,
})
const atMost = (what, most, measured, unit = '') => ({
  ...{ what, measured, most },
  limit: `at most ${most.toLocaleString('en-GB')}${unit}`,
})

const TARGETS = { verify, http, redis, durable, memory, flat, scale, forget, emulator }

function verify({ whole, alone }) {
  return [
    atMost('verify and parse ÷ fastest correct way, 300 B', 1.15, whole[300].toFastest),
    atMost('verify and parse ÷ fastest correct way, 2 KB', 1.15, whole[2000].toFastest),
    ...Object.entries(whole).map(([size, { peers }]) => {
      const [name, closest] = Object.entries(peers).toSorted(([, a], [, b]) => a.middle - b.middle)[0]
      // Parsing dominates there, and everybody uses the same parser.
      const least = size > 2000 ? 0.95 : 1
      return atLeast(`closest peer ÷ ours, verify and parse, ${sizeOf(size)}: ${name}`, least, closest)
    }),
    ...[300, 2000].flatMap(size => [
      atLeast(
        `stripe ÷ ours, verification alone, ${sizeOf(size)}`,
        3,
        alone[size].peers['stripe verifyHeader'],
      ),
      atLeast(
        `octokit ÷ ours, verification alone, ${sizeOf(size)}`,
        2,
        alone[size].peers['@octokit/webhooks-methods'],
      ),
    ]),
    atLeast('stripe ÷ ours, verification alone, 256 KB', 2.5, alone[256_000].peers['stripe verifyHeader']),
  ]
}

function http(figures) {
  return Object.entries(FRAMEWORKS).flatMap(([key, name]) => [
    ...[300, 2000].flatMap(size => {
      const { speed, p99, rss } = figures[key][size]
      return [
        atLeast(`${name}, ${sizeOf(size)}: requests/s ÷ by hand`, 1, speed),
        atMost(`${name}, ${sizeOf(size)}: p99 ÷ by hand`, 1.2, p99),
        atMost(`${name}, ${sizeOf(size)}: RSS ÷ by hand`, 1.2, rss),
      ]
    }),
    ...Object.entries(figures[key][2000].peers)
      .filter(([peer]) => peer in PEERS)
      .map(([peer, faster]) => atLeast(`${name}, 2 KB: requests/s ÷ ${peer}`, PEERS[peer], faster)),
  ])
}

function redis({ claims, bytes, http }) {
  return [
    ...Object.entries(claims).map(([inFlight, { speed }]) =>
      atLeast(`redisStore, ${inFlight} in flight: claims/s ÷ SET NX PX`, 0.9, speed),
    ),
    atMost('redisStore: bytes of Redis a remembered id', 120, bytes),
    atLeast('redisStore over HTTP, 64 connections: requests/s ÷ memoryStore', 0.7, http.speed),
  ]
}

function durable({ sqlite, slowDisk, bullmq, http }) {
  const raw = sqlite.perSecond.middle / sqlite.toGroupCommit.middle
  return [
    raw * 0.8 < 15_000
      ? atLeast('sqliteInbox, 64 in flight: events/s ÷ raw group commit', 0.8, sqlite.toGroupCommit)
      : atLeast('sqliteInbox, 64 in flight: events/s', 15_000, sqlite.perSecond),
    atMost('sqliteInbox, 64 in flight: event loop p99, ms', 5, sqlite.loopP99Ms),
    atMost('sqliteInbox, one at a time: p50 ÷ bare insert and commit', 1.5, sqlite.aloneP50),
    atLeast('sqliteInbox, fsync of 2 ms, 64 in flight: events/s', 10_000, slowDisk.perSecond),
    atLeast('sqliteInbox over HTTP, 64 connections: requests/s ÷ memory', 0.45, http.sqlite),
    atMost('sqliteInbox over HTTP, 64 connections: p99, ms', 25, http.sqliteP99Ms),
    ...Object.entries({ Redis: bullmq.redis, PostgreSQL: bullmq.postgres }).flatMap(([engine, figures]) => [
      ...Object.entries(figures.accepting).map(([inFlight, speed]) =>
        atLeast(`bullmqInbox on ${engine}, ${inFlight} in flight: events/s ÷ queue.add`, 0.9, speed),
      ),
      ...Object.entries(figures.processing).map(([concurrency, speed]) =>
        atLeast(
          `bullmqInbox on ${engine}, ${concurrency} handled at a time: events/s ÷ bare worker`,
          0.9,
          speed,
        ),
      ),
    ]),
  ]
}

function memory({ ids, hour, flat: resident }) {
  return [
    atMost('memoryStore, 1,000,000 ids: bytes an id', 150, ids.bytes),
    atMost('memoryStore, 1,000,000 ids: ns a claim and its completion', 1500, ids.ns),
    atMost("heap after an hour's traffic: bytes an event", 150, hour.bytesPerEvent),
    ...flat(resident),
  ]
}

function flat({ growth, seconds }) {
  return [atMost(`RSS after ${showNumber(seconds)} s of load ÷ RSS after the warm-up`, 1.1, growth)]
}

function forget({ cpu }) {
  return [atMost('sqliteInbox, 1,000,000 expired ids: CPU of an event ÷ that without', 1.1, cpu)]
}

/** Trying secrets one after the other is linear by design, and only where the first ones do not match. */
function scale({ handlers, goodSecret, lastSecret, ids, waiting }) {
  const grows = (what, { most, growth }) =>
    atMost(`cost of a delivery, ${most.toLocaleString('en-GB')} ${what}`, LEVEL, growth)
  return [
    grows('handlers ÷ 1', handlers),
    grows('ids remembered ÷ none', ids),
    grows('events waiting ÷ none', waiting),
    grows('secrets of which the first signs ÷ 1', goodSecret),
    atMost(
      `cost of a delivery, ${lastSecret.most} secrets of which the last signs ÷ 1`,
      lastSecret.most,
      lastSecret.growth,
    ),
  ]
}

function emulator({ startMs, ingest, idle, slowestP95 }) {
  return [
    atMost('emulator: start in a new process, ms', 300, startMs),
    atLeast('emulator: events taken in, in batches of 100, events/s', 1000, ingest),
    atMost('emulator: slowest filter or text at 100,000 deliveries, p95, ms', 100, slowestP95),
    atMost('emulator: processor while 10,000 retries wait, % of a core', 1, idle),
  ]
}

function sizeOf(size) {
  return size < 1000 ? `${size} B` : `${size / 1000} KB`
}
