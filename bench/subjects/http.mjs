import { duet, placement } from '../lib/duet.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { showBytes, showDecided, showNumber, table } from '../lib/table.mjs'

const ALONE = 'alone'
const BY_HAND = 'by hand'
const OURS = 'ackhook'
const PEERS = {
  'node:http': ['octokit', 'bolt'],
  express: ['stripe', 'svix', 'standardwebhooks', 'tern'],
  fastify: ['stripe'],
  hono: ['stripe', 'tern'],
}
const FRAMEWORKS = Object.keys(PEERS)
/**
 * By hand with what ours does there beside receiving, which anybody may do (performance note 39). For the record: nothing
 * is judged by it.
 */
const FOR_THE_RECORD =
  Number.parseInt(process.versions.v8) < 13 ? { express: ['by hand, shared classes'] } : {}
const TITLES = { express: 'Express', fastify: 'Fastify', hono: 'Hono' }
const SENDER_OF = {
  octokit: 'github',
  bolt: 'slack',
  stripe: 'stripe',
  tern: 'stripe',
  svix: 'standard',
  standardwebhooks: 'standard',
}
/** The peers and the bare framework are measured at one size, which is the one of the chart. */
const PEER_SIZE = 2000
/** Many targets are a few per cent away, and five starts that happen to agree are not yet a narrow interval. */
const STARTS = { within: 0.025, fewest: 8, most: 24, seconds: 300 }
/** Larger bodies are for the record: parsing decides there. */
const FEW_STARTS = { most: 5 }
const HEAD = [
  '',
  'CPU µs a request',
  'CPU by hand ÷ CPU',
  'requests/s',
  '÷ by hand',
  'p99 ms',
  'p99 ÷ by hand',
  'RSS MB',
  'RSS ÷ by hand',
]
const ABOUT = `One process of each receiver, 32 connections, acknowledged before work; servers and load in separate processes. ${placement} "By hand" is an expert's receiver on the same framework (raw body, HMAC, tolerance, \`JSON.parse\`, bounded sets of ids, 204), "alone" the framework answering 204 to the same requests. CPU: processor time of the server for each request, garbage collection included, while all servers of the table's cell are loaded at once on one processor. Requests/s and p99: with that processor for itself. Ratios are geometric means over starts with their 95 % interval; "undecided": wider than ±5 %.`

/**
 * Processor time and requests a second over HTTP, against an expert's hand-written receiver on the same framework.
 *
 * @param {{ quick: boolean, peers: boolean, frameworks?: readonly string[], bodies?: readonly number[] }} options
 */
export async function measureHttp({ quick, peers, frameworks = FRAMEWORKS, bodies }) {
  const sizes = bodies ?? (quick ? [300, PEER_SIZE] : [300, PEER_SIZE, 20_000, 256_000])
  const rows = []
  const figures = {}
  const chart = []
  for (const framework of frameworks) {
    for (const size of sizes) {
      const isWhole = size === PEER_SIZE && peers
      const also = (size <= PEER_SIZE && FOR_THE_RECORD[framework]) || []
      const variants = [BY_HAND, OURS, ...also, ...(isWhole ? [ALONE, ...PEERS[framework]] : [])]
      const results = await compare(framework, { variants, size, quick })
      for (const result of results) rows.push(rowOf(framework, size, result))
      const judged = results.filter(({ variant }) => !also.includes(variant))
      if (isWhole) chart.push({ framework: titleOf(framework), bars: judged })
      figures[framework] = { ...figures[framework], [size]: figuresOf(judged) }
    }
  }
  return {
    markdown: ['## HTTP', ABOUT, table(HEAD, rows)].join('\n\n'),
    figures,
    chart: chart.length > 0 ? chart : undefined,
  }
}

async function compare(framework, { variants, size, quick }) {
  const others = variants.filter(variant => variant === BY_HAND || PEERS[framework].includes(variant))
  const body = eventBody(size)
  const comparison = await duet(variants, {
    quick,
    ...(size > PEER_SIZE ? FEW_STARTS : STARTS),
    decides: others.map(other => ['cpuUs', other, OURS]),
    serverOf: variant => [framework.replace(':', '-'), variant],
    requestOf: variant => ({ body, dialect: SENDER_OF[variant] }),
  })
  process.stderr.write(`${framework}, ${showBytes(size)}: ${comparison.size} starts\n`)
  return variants.map(variant => ({
    variant,
    cpuUs: comparison.middleOf('cpuUs', variant),
    cpu: comparison.ratioOf('cpuUs', BY_HAND, variant),
    oursIsFaster: comparison.ratioOf('cpuUs', variant, OURS),
    perSecond: comparison.middleOf('perSecond', variant),
    speed: comparison.ratioOf('perSecond', variant, BY_HAND),
    p99Ms: comparison.middleOf('p99Ms', variant),
    p99: comparison.ratioOf('p99Ms', variant, BY_HAND),
    rssMb: comparison.middleOf('rss', variant) / 1e6,
    rss: comparison.ratioOf('rss', variant, BY_HAND),
  }))
}

/** Ours beside the hand-written receiver, and the processor time of each peer as a ratio to ours. */
function figuresOf(results) {
  const { cpu, rss } = results.find(({ variant }) => variant === OURS)
  const peers = results.filter(({ variant }) => ![BY_HAND, OURS, ALONE].includes(variant))
  return {
    cpu,
    rss,
    peers: Object.fromEntries(peers.map(({ variant, oursIsFaster }) => [variant, oursIsFaster])),
  }
}

function rowOf(framework, size, { variant, ...one }) {
  const ratio = (interval, show) => (variant === BY_HAND ? '1' : show(interval))
  return [
    `${titleOf(framework)}, ${showBytes(size)}: ${variant}`,
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

function titleOf(framework) {
  return TITLES[framework] ?? framework
}
