import { eventBody } from '../lib/event-body.mjs'
import { load } from '../lib/load.mjs'
import { interleave, median, ratio } from '../lib/rounds.mjs'
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

/** Requests per second over HTTP, against an expert's hand-written receiver on the same framework. */
export async function measureHttp({ quick }) {
  const sizes = quick ? [300, 2000] : [300, 2000, 20_000, 256_000]
  const rows = []
  const chart = []
  for (const framework of Object.keys(NAMES)) {
    for (const size of sizes) {
      const variants = size === PEER_SIZE ? [...CORE, ...PEERS[framework]] : CORE
      const results = await compare(framework, variants, size, {
        rounds: quick ? 3 : size > 2000 ? 3 : 7,
        seconds: quick ? 1 : 1.2,
      })
      for (const result of results) rows.push(rowOf(framework, size, result))
      if (size === PEER_SIZE) chart.push({ framework: NAMES[framework], bars: results })
    }
  }
  const head = ['', 'requests/s', '÷ by hand', 'CPU by hand ÷ CPU', 'p99 ms', 'RSS MB']
  return {
    markdown: [
      '## HTTP',
      'One process, 32 connections, acknowledged before work; server and load in separate processes. "By hand" is an expert\'s receiver on the same framework (raw body, HMAC, tolerance, `JSON.parse`, a `Map` of ids, 204), "alone" the framework answering 204 to the same requests. CPU: processor time of the server for each request, which other load on the machine disturbs less. Median of the rounds and their range.',
      table(head, rows),
    ].join('\n\n'),
    chart,
  }
}

/** All variants are up at once and loaded in turns. Each first gets enough requests to be compiled. */
async function compare(framework, variants, size, { rounds, seconds }) {
  const body = eventBody(size)
  const servers = new Map()
  for (const variant of variants) servers.set(variant, await startServer(framework, variant))
  const run = (variant, duration) =>
    load({ port: servers.get(variant).port, body, dialect: SENDER_OF[variant], seconds: duration })
  for (const variant of variants) await run(variant, 2)
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
  const base = samples.get('by hand')
  return variants.map(variant => {
    const own = samples.get(variant)
    const of = field => own.map(sample => sample[field])
    const baseOf = field => base.map(sample => sample[field])
    return {
      variant,
      perSecond: median(of('perSecond')),
      speed: ratio(of('perSecond'), baseOf('perSecond')),
      cpu: ratio(baseOf('cpuUs'), of('cpuUs')),
      p99Ms: median(of('p99Ms')),
      rss: own.at(-1).rss,
    }
  })
}

function rowOf(framework, size, { variant, perSecond, speed, cpu, p99Ms, rss }) {
  return [
    `${NAMES[framework]}, ${showBytes(size)}: ${variant}`,
    showNumber(perSecond),
    showRatio(speed),
    showRatio(cpu),
    showNumber(p99Ms),
    Math.round(rss / 1e6),
  ]
}
