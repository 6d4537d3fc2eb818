import { compareRounds } from './comparison.mjs'
import { median, percentile } from './interval.mjs'
import { separateProcessors } from './processors.mjs'
import { Sender } from './sender.mjs'
import { startServer } from './server.mjs'

/**
 * Warm-up in requests to each server: by time, a slow machine would not have compiled the code by then. On one where Node 24
 * took 85 µs a request in the end, the first 5,000 took 290 each, and the first 25,000 more than the rest.
 */
const WARM_UP_REQUESTS = 40_000
/** Large bodies would take minutes for as many, nearly all of them in `JSON.parse`. */
const WARM_UP_MOST_CPU_S = 8
const MEASURED_CPU_S = 1
const ROUND_SECONDS = 0.15
const ALONE_SECONDS = 0.2
const ALONE_ROUNDS = 2

const { pin, note } = separateProcessors()

/** Describes the processors of the servers and the load. */
export const placement = note

/**
 * Compares servers that are loaded at the same time on one processor, which they share in slices of a few milliseconds.
 * Other load on the machine then slows all of them equally. Each start has new processes: two with the same code differ
 * by one or two percent for their whole life.
 *
 * A start measures a server's processor time per request, garbage collection included, and then its resident memory.
 * Requests per second and p99 come from rounds in which a server has the processor to itself.
 *
 * @param {readonly string[]} names
 * @param {{
 *   serverOf: (name: string) => [module: string, variant: string, start?: Parameters<typeof startServer>[2]],
 *   requestOf: (name: string) => Pick<Parameters<typeof Sender.open>[0], 'body' | 'dialect'>,
 *   connections?: number,
 * } & Parameters<typeof compareRounds>[1]} options
 */
export function duet(names, { serverOf, requestOf, connections, ...limits }) {
  return compareRounds(async number => {
    // Every other start reverses the order: being started first must not count.
    const order = number % 2 === 0 ? names : names.toReversed()
    const servers = []
    try {
      for (const name of order) {
        servers.push(await startContender(name, serverOf(name), { ...requestOf(name), connections }))
      }
      return await measureStart(servers)
    } finally {
      for (const server of servers) await server.stop()
    }
  }, limits)
}

async function startContender(name, [module, variant, start = {}], request) {
  const server = await startServer(module, variant, pin(start))
  const sender = await Sender.open({ port: server.port, ...request })
  const stop = () => {
    sender.close()
    return server.stop()
  }
  return { name, sender, ask: server.ask, stop }
}

async function measureStart(servers) {
  await loadTogether(servers, ({ answered, cpuUs }) => {
    return answered >= WARM_UP_REQUESTS || cpuUs >= WARM_UP_MOST_CPU_S * 1e6
  })
  const together = await loadTogether(servers, ({ cpuUs }) => cpuUs >= MEASURED_CPU_S * 1e6)
  const alone = await loadAlone(servers)
  const states = await statesOf(servers)
  return Object.fromEntries(
    servers.map(({ name }, i) => {
      return [name, { cpuUs: perRequest(together[i]), rss: states[i].memory.rss, ...alone.get(name) }]
    }),
  )
}

/**
 * Loads all servers at once, for the same time, until the sum of each `isEnough`. Returns each server's microseconds of
 * processor time and number of requests.
 */
async function loadTogether(servers, isEnough) {
  const seconds = ROUND_SECONDS * servers.length
  const sums = servers.map(() => ({ cpuUs: 0, answered: 0 }))
  while (!sums.every(isEnough)) {
    const requests = servers.map(({ sender }) => sender.prepare(seconds))
    const before = await statesOf(servers)
    const loads = await Promise.all(servers.map(({ sender }, i) => sender.load(seconds, requests[i])))
    const after = await statesOf(servers)
    for (const [i, sum] of sums.entries()) {
      sum.cpuUs += after[i].cpuUs - before[i].cpuUs
      sum.answered += loads[i].answered
    }
  }
  return sums
}

function perRequest({ cpuUs, answered }) {
  return cpuUs / answered
}

/** Loads one server at a time, in the order A B B A. */
async function loadAlone(servers) {
  const rounds = new Map(servers.map(({ name }) => [name, []]))
  for (let round = 0; round < ALONE_ROUNDS; round++) {
    for (const { name, sender } of round % 2 === 0 ? servers : servers.toReversed()) {
      rounds.get(name).push(await sender.load(ALONE_SECONDS))
    }
  }
  const summary = loads => ({
    perSecond: median(loads.map(load => load.perSecond)),
    p99Ms: percentile(
      loads.flatMap(load => load.latencies),
      0.99,
    ),
  })
  return new Map([...rounds].map(([name, loads]) => [name, summary(loads)]))
}

function statesOf(servers) {
  return Promise.all(servers.map(({ ask }) => ask('state')))
}
