import { alternate, placement } from '../lib/alternating-rounds.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { showBytes, showNumber, showRatio, table } from '../lib/table.mjs'

/** Ours follows the hand-written one in each round: the ratio that decides is of neighbours. */
const CORE = ['alone', 'by hand', 'ackhook']
const PEERS = {
  'node-http': ['octokit', 'bolt'],
  express: ['stripe', 'svix', 'standardwebhooks', 'tern'],
  fastify: ['stripe'],
  hono: ['stripe', 'tern'],
}
const NAMES = { 'node-http': 'node:http', express: 'Express', fastify: 'Fastify', hono: 'Hono' }
const SENDER_OF = {
  octokit: 'github',
  bolt: 'slack',
  stripe: 'stripe',
  tern: 'stripe',
  svix: 'standard',
  standardwebhooks: 'standard',
}
const PEER_SIZE = 2000
const BY_HAND = 'by hand'
const ROUNDS = 30
/** For a quick look, and for large bodies, which are for the record: parsing decides there. Wide intervals say so. */
const FEW_ROUNDS = 12

/** Processor time and requests per second over HTTP, against an expert's hand-written receiver on the same framework. */
export async function measureHttp({ quick }) {
  const rows = []
  const figures = {}
  const chart = []
  for (const framework of Object.keys(NAMES)) {
    for (const size of quick ? [300, PEER_SIZE] : [300, PEER_SIZE, 20_000, 256_000]) {
      const variants = size === PEER_SIZE ? [...CORE, ...PEERS[framework]] : CORE
      const results = await compare(
        framework,
        variants,
        size,
        quick || size > PEER_SIZE ? FEW_ROUNDS : ROUNDS,
      )
      for (const result of results) rows.push(rowOf(framework, size, result))
      if (size === PEER_SIZE) chart.push({ framework: NAMES[framework], bars: results })
      figures[framework] = { ...figures[framework], [size]: figuresOf(results) }
    }
  }
  const head = ['', 'CPU by hand ÷ CPU', 'requests/s', '÷ by hand', 'p99 ms', 'p99 ÷ by hand', 'RSS MB']
  return {
    markdown: [
      '## HTTP',
      `One process, 32 connections, acknowledged before work; server and load in separate processes. ${placement} "By hand" is an expert's receiver on the same framework (raw body, HMAC, tolerance, \`JSON.parse\`, a \`Map\` of ids, 204), "alone" the framework answering 204 to the same requests. CPU: processor time of the server for each request, which other load on the machine disturbs less. Alternating rounds of 0.4 s: the median of the ratios of each round, with its 95 % interval by bootstrap. "Undecided": the interval is wider than ±5 %.`,
      table(head, rows),
    ].join('\n\n'),
    figures,
    chart,
  }
}

async function compare(framework, variants, size, rounds) {
  const body = eventBody(size)
  const { middleOf, ratioOf } = await alternate(variants, {
    rounds,
    serverOf: variant => [framework, variant],
    requestOf: variant => ({ body, dialect: SENDER_OF[variant] }),
  })
  return variants.map(variant => ({
    variant,
    perSecond: middleOf('perSecond', variant),
    speed: ratioOf('perSecond', variant, BY_HAND),
    oursIsFaster: ratioOf('perSecond', 'ackhook', variant),
    cpu: ratioOf('cpuUs', BY_HAND, variant),
    p99Ms: middleOf('p99Ms', variant),
    p99: ratioOf('p99Ms', variant, BY_HAND),
    rssMb: middleOf('rss', variant) / 1e6,
    rss: ratioOf('rss', variant, BY_HAND),
  }))
}

/** Ours beside the hand-written receiver, and how much faster it is than each peer. */
function figuresOf(results) {
  const { speed, cpu, p99, rss } = results.find(({ variant }) => variant === 'ackhook')
  const peers = results.filter(({ variant }) => !CORE.includes(variant))
  return {
    ...{ speed, cpu, p99, rss },
    peers: Object.fromEntries(peers.map(({ variant, oursIsFaster }) => [variant, oursIsFaster])),
  }
}

function rowOf(framework, size, { variant, perSecond, speed, cpu, p99Ms, p99, rssMb }) {
  return [
    `${NAMES[framework]}, ${showBytes(size)}: ${variant}`,
    showDecided(cpu),
    showNumber(perSecond),
    showDecided(speed),
    showNumber(p99Ms),
    showRatio(p99),
    Math.round(rssMb),
  ]
}

function showDecided(ratio) {
  return ratio.isNarrow ? showRatio(ratio) : `undecided, ${showRatio(ratio)}`
}
