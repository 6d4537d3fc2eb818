import { eventBody } from '../lib/event-body.mjs'
import { load } from '../lib/load.mjs'
import { each, interleave, median, ratio } from '../lib/rounds.mjs'
import { startServer } from '../lib/server.mjs'
import { showBytes, showNumber, showRatio, table } from '../lib/table.mjs'

const CORE = ['by hand', 'alone', 'ackhook']
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

/** Requests per second over HTTP, against an expert's hand-written receiver on the same framework. */
export async function measureHttp({ quick }) {
  const rows = []
  const figures = {}
  const chart = []
  for (const framework of Object.keys(NAMES)) {
    for (const size of quick ? [300, PEER_SIZE] : [300, PEER_SIZE, 20_000, 256_000]) {
      const variants = size === PEER_SIZE ? [...CORE, ...PEERS[framework]] : CORE
      const results = await compare(framework, variants, size, cellOf(size, quick))
      for (const result of results) rows.push(rowOf(framework, size, result))
      if (size === PEER_SIZE) chart.push({ framework: NAMES[framework], bars: results })
      figures[framework] = { ...figures[framework], [size]: figuresOf(results) }
    }
  }
  const head = ['', 'requests/s', '÷ by hand', 'CPU by hand ÷ CPU', 'p99 ms', 'p99 ÷ by hand', 'RSS MB']
  return {
    markdown: [
      '## HTTP',
      'One process, 32 connections, acknowledged before work; server and load in separate processes. "By hand" is an expert\'s receiver on the same framework (raw body, HMAC, tolerance, `JSON.parse`, a `Map` of ids, 204), "alone" the framework answering 204 to the same requests. CPU: processor time of the server for each request, which other load on the machine disturbs less. Median of the rounds and their range.',
      table(head, rows),
    ].join('\n\n'),
    figures,
    chart,
  }
}

/** Large bodies are for the record: parsing decides there, and fewer rounds say so. */
function cellOf(size, quick) {
  if (quick) return { rounds: 3, seconds: 0.8, warmUp: 1.5 }
  return size > PEER_SIZE ? { rounds: 3, seconds: 0.6, warmUp: 1 } : { rounds: 5, seconds: 1, warmUp: 2 }
}

/** All variants are up at once and loaded in turns. Each first gets enough requests to be compiled. */
async function compare(framework, variants, size, { rounds, seconds, warmUp }) {
  const body = eventBody(size)
  const servers = new Map()
  for (const variant of variants) servers.set(variant, await startServer(framework, variant))
  const run = (variant, duration) =>
    load({ port: servers.get(variant).port, body, dialect: SENDER_OF[variant], seconds: duration })
  for (const variant of variants) await run(variant, warmUp)
  const samples = await interleave(variants, {
    rounds,
    async measure(variant) {
      const before = await servers.get(variant).ask('state')
      const { perSecond, p99Ms, answered } = await run(variant, seconds)
      const { cpuUs, memory } = await servers.get(variant).ask('state')
      return { perSecond, p99Ms, cpuUs: (cpuUs - before.cpuUs) / answered, rss: memory.rss }
    },
  })
  for (const server of servers.values()) await server.stop()
  const ratioOf = (field, one, other) => ratio(each(samples.get(one), field), each(samples.get(other), field))
  return variants.map(variant => {
    const own = samples.get(variant)
    return {
      variant,
      perSecond: median(each(own, 'perSecond')),
      speed: ratioOf('perSecond', variant, BY_HAND),
      oursIsFaster: ratioOf('perSecond', 'ackhook', variant),
      cpu: ratioOf('cpuUs', BY_HAND, variant),
      p99Ms: median(each(own, 'p99Ms')),
      p99: ratioOf('p99Ms', variant, BY_HAND),
      rssMb: own.at(-1).rss / 1e6,
      rss: ratioOf('rss', variant, BY_HAND),
    }
  })
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
    showNumber(perSecond),
    showRatio(speed),
    showRatio(cpu),
    showNumber(p99Ms),
    showRatio(p99),
    Math.round(rssMb),
  ]
}
