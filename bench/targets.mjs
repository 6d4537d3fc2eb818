import { FRAMEWORKS } from './lib/frameworks.mjs'
import { verdictOf } from './lib/interval.mjs'
import { showNumber, table } from './lib/table.mjs'

/** Lowest ratio of the hand-written receiver's processor time to ours, with the same reply: the price of readable code. */
const LEAST_OF_HAND_WRITTEN = { 'node:http': 0.85, express: 1.35, fastify: 0.85, hono: 0.95 }
/** Lowest ratio to stripe, which remembers no ids. */
const LEAST_OF_STRIPE = { express: 1, fastify: 0.95, hono: 0.95 }
/** Largest ratio of resident memory under load. */
const MOST_MEMORY = 1.25
/** Most bytes of the heap that a delivery allocates beyond the hand-written receiver. */
const MOST_ALLOCATED = 7000
/** Largest ratio of memory or bytes that counts as flat. */
const FLAT = 1.1
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
  ...{ verify, http, allocated, redis, durable, latency, soak, workers, start, memory, telemetry },
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

function redis({ claims, bytes }) {
  return [
    ...Object.entries(claims).map(([inFlight, { speed }]) =>
      atLeast(`redisStore, ${inFlight} in flight: claims/s ÷ SET NX PX`, 0.9, speed),
    ),
    atMost('redisStore: bytes of Redis per remembered id', 120, bytes),
  ]
}

function durable(figures) {
  return Object.entries(figures).flatMap(([inbox, { speed, cpu }]) => [
    atLeast(`${inbox}: accepted and handled/s ÷ by hand`, 0.8, speed),
    atMost(`${inbox}: CPU of an event ÷ by hand`, 1.6, cpu),
  ])
}

function latency({ redisStore, sqliteInbox }) {
  return [
    atLeast('redisStore over HTTP, 64 connections: requests/s ÷ memory', 0.7, redisStore?.toMemory),
    atLeast('sqliteInbox over HTTP, 64 connections: requests/s ÷ memory', 0.45, sqliteInbox?.toMemory),
  ]
}

function soak(figures) {
  return Object.entries(figures).flatMap(([inbox, { seconds, rss, stored }]) => [
    atMost(`${inbox}, ${showNumber(seconds)} s: resident memory, last quarter ÷ first`, FLAT, rss),
    atMost(`${inbox}, ${showNumber(seconds)} s: bytes stored, last quarter ÷ first`, FLAT, stored),
  ])
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

function start({ importMs, coldStartMs, idleMb }) {
  return [
    atMost('import of @ackhook/express over express alone, ms', 25, importMs),
    atMost('cold start of a Worker over bare Hono, ms', 5, coldStartMs),
    atMost('idle process over a bare one, MB', 7, idleMb),
  ]
}

function memory({ ids }) {
  return [
    atMost('memoryStore, 1,000,000 ids: bytes per id', 190, ids.bytes),
    atMost('memoryStore, 1,000,000 ids: ns a claim and its completion', 3000, ids.ns),
  ]
}

function telemetry({ metrics, both, bound }) {
  return [
    atMost('CPU of an event with metrics ÷ without', 1.4, metrics),
    {
      ...atMost('CPU of an event with metrics and traces ÷ without', 1.9, both),
      ...{ bound, boundName: "the SDK's calls alone" },
    },
  ]
}

function sizeOf(size) {
  return size < 1000 ? `${size} B` : `${size / 1000} KB`
}
