import { FRAMEWORKS } from './lib/frameworks.mjs'
import { verdictOf } from './lib/interval.mjs'
import { showNumber, table } from './lib/table.mjs'

/** Largest ratio that counts as "does not grow" on a machine with other work. */
const LEVEL = 1.2
/** Lowest ratio of the hand-written receiver's processor time to ours, with the same reply: the price of readable code. */
const LEAST_OF_HAND_WRITTEN = { 'node:http': 0.85, express: 1.35, fastify: 0.85, hono: 0.95 }
/** Lowest ratio to stripe, which remembers no ids. */
const LEAST_OF_STRIPE = { express: 1, fastify: 0.95, hono: 0.95 }
/** Largest ratio of resident memory under load. */
const MOST_MEMORY = 1.25
/** Most bytes of the heap that a delivery allocates beyond the hand-written receiver. */
const MOST_ALLOCATED = 7000
const SIZES = [300, 2000]

/**
 * Returns the table of targets, with measured values and verdicts.
 *
 * @param {{ subject: string, node: number, figures: any, age?: string }[]} sections `age`: why a section is old
 */
export function targetsTable(sections) {
  const targets = sections.flatMap(({ subject, node, figures, age }) =>
    (TARGETS[subject]?.(figures) ?? [])
      .filter(one => one.measured !== undefined)
      .map(one => ({ ...one, node, verdict: age === undefined ? judge(one) : OLD })),
  )
  const count = verdict => targets.filter(one => one.verdict === verdict).length
  const summary = ['met', 'missed', 'undecided', 'out of reach', OLD]
    .map(one => `${count(one)} ${one}`)
    .join(', ')
  return [
    '## Targets',
    `${targets.length} targets: ${summary}. Judged at the less favorable end of the 95 % interval: met if the whole interval meets the target; missed if the whole interval misses it, or if a part does and the interval is at most ±5 % wide; otherwise undecided. Out of reach: the floor after the semicolon, which does only the unavoidable work, misses the target as well. [PROFILE.md](PROFILE.md) explains the missed targets.`,
    table(
      ['', 'target', 'Node', 'measured', ''],
      targets.map(one => [one.what, one.limit, one.node, showMeasured(one), showVerdict(one)]),
    ),
  ].join('\n\n')
}

/** Stands for the verdict on a figure that is older than the code that it describes. */
const OLD = 'to be measured again'

/**
 * @param {{ measured: any, least?: number, most?: number, bound?: { low: number, high: number } }} target `bound`: measured
 * floor, which no receiver of this kind can beat
 * @returns {'met' | 'missed' | 'undecided' | 'out of reach'}
 */
export function judge({ measured, least, most, bound }) {
  const interval =
    typeof measured === 'number'
      ? { middle: measured, low: measured, high: measured, isNarrow: true }
      : measured
  const verdict = verdictOf(interval, { least, most })
  const isOutOfReach = bound !== undefined && (bound.high < least || bound.low > most)
  return verdict !== 'met' && isOutOfReach ? 'out of reach' : verdict
}

function showMeasured({ measured, bound, boundName }) {
  if (typeof measured === 'number') return show(measured)
  const { middle, low, high } = measured
  const floor = bound === undefined ? '' : `; ${boundName} ${show(bound.middle)}`
  return `${show(middle)} (${show(low)} to ${show(high)})${floor}`
}

function showVerdict({ verdict }) {
  return verdict === 'missed' ? '[missed](PROFILE.md)' : verdict
}

function show(value) {
  return Math.abs(value) < 10 ? value.toFixed(2) : showNumber(value)
}

/** `floor`: the `bound` of {@link judge}, and its name. */
const atLeast = (what, least, measured, floor = {}) => ({
  ...{ what, measured, least, ...floor },
  limit: `at least ${least.toLocaleString('en-GB')}`,
})
const atMost = (what, most, measured) => ({
  ...{ what, measured, most },
  limit: `at most ${most.toLocaleString('en-GB')}`,
})

const TARGETS = {
  verify,
  http,
  allocated,
  redis,
  durable,
  workers,
  start,
  memory,
  flat,
  scale,
  forget,
  emulator,
}

function verify({ alone }) {
  const aloneOf = (size, name, peer, least) =>
    atLeast(`${name} ÷ ours, verification alone, ${sizeOf(size)}`, least, alone[size]?.peers[peer], {
      bound: alone[size]?.bounds[peer],
      boundName: 'native calls alone',
    })
  return SIZES.flatMap(size => [
    aloneOf(size, 'stripe', 'stripe verifyHeader', 1.8),
    aloneOf(size, 'octokit', '@octokit/webhooks-methods', 1.25),
  ])
}

function http(figures) {
  return Object.entries(figures).flatMap(([key, sizes]) => {
    const name = FRAMEWORKS[key]
    return SIZES.filter(size => size in sizes).flatMap(size => [
      atLeast(
        `${name}, ${sizeOf(size)}: CPU hand-written ÷ ours`,
        LEAST_OF_HAND_WRITTEN[key],
        sizes[size].cpu,
      ),
      atMost(`${name}, ${sizeOf(size)}: RSS ÷ hand-written`, MOST_MEMORY, sizes[size].rss),
      ...Object.entries(sizes[size].peers).map(([peer, faster]) =>
        atLeast(
          `${name}, ${sizeOf(size)}: CPU ${peer} ÷ ours`,
          peer === 'stripe' ? LEAST_OF_STRIPE[key] : 1,
          faster,
        ),
      ),
    ])
  })
}

function allocated(figures) {
  return Object.entries(figures).map(([key, { overHand }]) =>
    atMost(`${FRAMEWORKS[key]}: bytes allocated beyond hand-written`, MOST_ALLOCATED, overHand),
  )
}

function redis({ claims, bytes, http }) {
  return [
    ...Object.entries(claims).map(([inFlight, { speed }]) =>
      atLeast(`redisStore, ${inFlight} in flight: claims/s ÷ SET NX PX`, 0.9, speed),
    ),
    atMost('redisStore: bytes of Redis per remembered id', 120, bytes),
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
    atMost('sqliteInbox, one at a time: p50 ÷ bare insert and commit in a thread', 1.2, sqlite.toThreadP50),
    atLeast('sqliteInbox, fsync of 2 ms, 64 in flight: events/s', 10_000, slowDisk.perSecond),
    atLeast('sqliteInbox over HTTP, 64 connections: requests/s ÷ memory', 0.45, http.sqlite),
    atMost('sqliteInbox over HTTP, 64 connections: p99, ms', 25, http.sqliteP99Ms),
    ...Object.entries({ Redis: bullmq.redis, PostgreSQL: bullmq.postgres }).flatMap(([engine, figures]) => [
      ...Object.entries(figures.accepting).map(([inFlight, speed]) =>
        atLeast(`bullmqInbox on ${engine}, ${inFlight} in flight: events/s ÷ queue.add`, 0.8, speed),
      ),
      ...Object.entries(figures.processing).map(([how, speed]) =>
        atLeast(`bullmqInbox on ${engine}, ${how}: events/s ÷ bare worker`, 0.9, speed),
      ),
    ]),
  ]
}

/** The target for two processes: the one server uses its share of the two cores in any case. */
function workers(engines) {
  return Object.entries(engines).map(([engine, { speedUp, serverShare }]) =>
    atLeast(
      `two processes ÷ one, handlers of 5 ms on ${engine}`,
      Number((1.8 * (1 - serverShare)).toFixed(2)),
      speedUp,
    ),
  )
}

function start({ importMs, coldStartMs }) {
  return [
    atMost('import of @ackhook/express over express alone, ms', 25, importMs),
    atMost('cold start of a Worker over bare Hono, ms', 5, coldStartMs),
  ]
}

function memory({ ids, hour, flat: resident }) {
  return [
    atMost('memoryStore, 1,000,000 ids: bytes per id', 190, ids.bytes),
    atMost('memoryStore, 1,000,000 ids: ns a claim and its completion', 3000, ids.ns),
    atMost("heap after an hour's traffic: bytes per event", 190, hour.bytesPerEvent),
    ...flat(resident),
  ]
}

function flat({ growth, seconds }) {
  return [atMost(`RSS after ${showNumber(seconds)} s of load ÷ RSS after the warm-up`, 1.1, growth)]
}

function forget({ cpu }) {
  return [atMost('sqliteInbox, 1,000,000 expired ids: CPU of an event ÷ that without', 1.1, cpu)]
}

/** Trying secrets one by one is linear by design, but only if the first ones do not match. */
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
