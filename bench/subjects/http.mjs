import { duet, placement } from '../lib/duet.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { FRAMEWORKS } from '../lib/frameworks.mjs'
import { showBytes, showDecided, showNumber, table } from '../lib/table.mjs'

const ALONE = 'alone'
const HAND_WRITTEN = 'hand-written'
const OURS = 'ackhook'
const PEERS = {
  'node:http': ['octokit', 'bolt'],
  express: ['stripe', 'svix', 'standardwebhooks', 'tern'],
  fastify: ['stripe'],
  hono: ['stripe', 'tern'],
}
const SENDER_OF = {
  octokit: 'github',
  bolt: 'slack',
  stripe: 'stripe',
  tern: 'stripe',
  svix: 'standard',
  standardwebhooks: 'standard',
}
/** The one size at which peers and the bare framework are measured, used in the chart. */
const PEER_SIZE = 2000
/** Many targets are a few percent away, and five starts that happen to agree do not make a narrow interval. */
const STARTS = { within: 0.025, fewest: 8, most: 24, seconds: 150 }
/** Larger bodies are for the record only: parsing dominates there. */
const FEW_STARTS = { most: 5 }
const HEAD = [
  '',
  'CPU µs per request',
  'CPU hand-written ÷ CPU',
  'requests/s',
  '÷ hand-written',
  'p99 ms',
  'p99 ÷ hand-written',
  'RSS MB',
  'RSS ÷ hand-written',
]
const ABOUT = `One process of each receiver, 32 connections, acknowledged before work; servers and load run in separate processes. ${placement} "Hand-written" is an expert's receiver on the same framework (raw body, HMAC, tolerance, \`JSON.parse\`, bounded sets of ids, the same reply as ours), "alone" is the framework replying 204 to the same requests. CPU: processor time of the server for each request, including garbage collection, while all servers of a table cell are loaded at once on one processor. Requests/s and p99: each server alone on that processor. Ratios are geometric means over starts with their 95 % interval; "undecided": wider than ±5 %.`

/**
 * Compares processor time and requests per second over HTTP with an expert's hand-written receiver on one framework.
 *
 * @param {{ quick: boolean, peers: boolean, framework: keyof typeof FRAMEWORKS, bodies?: readonly number[], seconds?: number }} options
 * `seconds`: time limit of a cell
 */
export async function measureHttp({ quick, peers, framework, bodies, seconds = STARTS.seconds }) {
  const sizes = bodies ?? (quick ? [300, PEER_SIZE] : [300, PEER_SIZE, 20_000, 256_000])
  const rows = []
  const figures = {}
  let chart
  for (const size of sizes) {
    const isWhole = size === PEER_SIZE && peers
    const variants = [HAND_WRITTEN, OURS, ...(isWhole ? [ALONE, ...PEERS[framework]] : [])]
    const results = await compare(framework, { variants, size, quick, seconds })
    for (const result of results) rows.push(rowOf(size, result))
    if (isWhole) chart = { framework: FRAMEWORKS[framework], bars: results }
    figures[size] = figuresOf(results)
  }
  return {
    about: `## HTTP\n\n${ABOUT}`,
    markdown: [`### ${FRAMEWORKS[framework]}`, table(HEAD, rows)].join('\n\n'),
    figures: { [framework]: figures },
    chart,
  }
}

async function compare(framework, { variants, size, quick, seconds }) {
  const others = variants.filter(variant => variant === HAND_WRITTEN || PEERS[framework].includes(variant))
  const body = eventBody(size)
  const comparison = await duet(variants, {
    quick,
    ...(size > PEER_SIZE ? FEW_STARTS : { ...STARTS, seconds }),
    decides: others.map(other => ['cpuUs', other, OURS]),
    serverOf: variant => [framework.replace(':', '-'), variant],
    requestOf: variant => ({ body, dialect: SENDER_OF[variant] }),
  })
  process.stderr.write(`${framework}, ${showBytes(size)}: ${comparison.size} starts\n`)
  return variants.map(variant => ({
    variant,
    cpuUs: comparison.middleOf('cpuUs', variant),
    cpu: comparison.ratioOf('cpuUs', HAND_WRITTEN, variant),
    oursIsFaster: comparison.ratioOf('cpuUs', variant, OURS),
    perSecond: comparison.middleOf('perSecond', variant),
    speed: comparison.ratioOf('perSecond', variant, HAND_WRITTEN),
    p99Ms: comparison.middleOf('p99Ms', variant),
    p99: comparison.ratioOf('p99Ms', variant, HAND_WRITTEN),
    rssMb: comparison.middleOf('rss', variant) / 1e6,
    rss: comparison.ratioOf('rss', variant, HAND_WRITTEN),
  }))
}

/** Lists ours with the hand-written receiver, and each peer's processor time as a ratio to ours. */
function figuresOf(results) {
  const { cpu, rss } = results.find(({ variant }) => variant === OURS)
  const peers = results.filter(({ variant }) => ![HAND_WRITTEN, OURS, ALONE].includes(variant))
  return {
    cpu,
    rss,
    peers: Object.fromEntries(peers.map(({ variant, oursIsFaster }) => [variant, oursIsFaster])),
  }
}

function rowOf(size, { variant, ...one }) {
  const ratio = (interval, show) => (variant === HAND_WRITTEN ? '1' : show(interval))
  return [
    `${showBytes(size)}: ${variant}`,
    showNumber(one.cpuUs),
    ratio(one.cpu, showDecided),
    showNumber(one.perSecond),
    ratio(one.speed, showDecided),
    showNumber(one.p99Ms),
    ratio(one.p99, showDecided),
    Math.round(one.rssMb),
    ratio(one.rss, showDecided),
  ]
}
