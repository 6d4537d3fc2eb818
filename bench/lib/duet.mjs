import { compareRounds } from './comparison.mjs'
import { percentile } from './percentile.mjs'
import { separateProcessors } from './processors.mjs'
import { median } from './rounds.mjs'
import { Sender } from './sender.mjs'
import { startServer } from './server.mjs'

/**
 * Processor time of each server, and not of the clock: on a busy machine code would not be compiled by then. Node 22
 * goes on compiling for two seconds, and after 0.8 it took ours 65 µs for what later took 49.
 */
export const WARM_UP_CPU_S = 2.5
const MEASURED_CPU_S = 0.6
const ROUND_SECONDS = 0.15
const ALONE_SECONDS = 0.2
const ALONE_ROUNDS = 2

const { pin, note } = separateProcessors()

/** Where the servers and the load ran. */
export const placement = note

/**
 * Measures servers against each other while all of them are loaded at the same time on one processor, which they share
 * in slices of a few milliseconds. Whatever slows the machine then slows all of them alike. Each start has new
 * processes: two with the same code differ by one or two per cent for as long as they live.
 *
 * A start measures the processor time of a server for each request, garbage collection included, and its resident
 * memory after that. Requests a second and p99 come from rounds in which each server has the processor for itself.
 *
 * `ages`: seconds of processor time after which the processes are measured instead, each of them again at every age. The
 * fields are then `cpuUs@<age>`, and `answered@<age>` with the requests until then.
 *
 * @param {readonly string[]} names
 * @param {{
 *   serverOf: (name: string) => [module: string, variant: string, start?: Parameters<typeof startServer>[2]],
 *   requestOf: (name: string) => Pick<Parameters<typeof Sender.open>[0], 'body' | 'dialect'>,
 *   connections?: number,
 *   ages?: readonly number[],
 * } & Parameters<typeof compareRounds>[1]} options
 */
export function duet(names, { serverOf, requestOf, connections, ages, ...limits }) {
  return compareRounds(async number => {
    // Every other start begins with the last one: being started first must not count.
    const order = number % 2 === 0 ? names : names.toReversed()
    const servers = []
    try {
      for (const name of order) {
        servers.push(await startContender(name, serverOf(name), { ...requestOf(name), connections }))
      }
      return ages === undefined ? await measureStart(servers) : await measureAges(servers, ages)
    } finally {
      for (const server of servers) await server.stop()
    }
  }, limits)
}

/** The same processes, again and again, each time that they have taken so much more processor time. */
async function measureAges(servers, ages) {
  const taken = Object.fromEntries(servers.map(({ name }) => [name, {}]))
  const answered = new Map(servers.map(({ name }) => [name, 0]))
  let age = 0
  const work = async seconds => {
    const sums = await loadTogether(servers, seconds)
    for (const [i, { name }] of servers.entries()) answered.set(name, answered.get(name) + sums[i].answered)
    age += seconds
    return sums
  }
  for (const next of ages) {
    await work(next - age)
    for (const { name } of servers) taken[name][`answered@${next}`] = answered.get(name)
    const sums = await work(MEASURED_CPU_S)
    for (const [i, { name }] of servers.entries()) taken[name][`cpuUs@${next}`] = perRequest(sums[i])
  }
  return taken
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
  await loadTogether(servers, WARM_UP_CPU_S)
  const together = await loadTogether(servers, MEASURED_CPU_S)
  const alone = await loadAlone(servers)
  const states = await statesOf(servers)
  return Object.fromEntries(
    servers.map(({ name }, i) => {
      return [name, { cpuUs: perRequest(together[i]), rss: states[i].memory.rss, ...alone.get(name) }]
    }),
  )
}

/**
 * All at once, and each for the same time, until each has taken so much processor time. Answers the µs of each, and the
 * requests it has answered.
 */
async function loadTogether(servers, cpuSeconds) {
  const seconds = ROUND_SECONDS * servers.length
  const sums = servers.map(() => ({ cpuUs: 0, answered: 0 }))
  while (sums.some(({ cpuUs }) => cpuUs < cpuSeconds * 1e6)) {
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

/** In turns, A B B A. */
async function loadAlone(servers) {
  const rounds = new Map(servers.map(({ name }) => [name, []]))
  for (let round = 0; round < ALONE_ROUNDS; round++) {
    for (const { name, sender } of round % 2 === 0 ? servers : servers.toReversed()) {
      rounds.get(name).push(await sender.load(ALONE_SECONDS))
    }
  }
  return new Map(
    [...rounds].map(([name, loads]) => {
      const perSecond = median(loads.map(load => load.perSecond))
      return [
        name,
        {
          perSecond,
          p99Ms: percentile(
            loads.flatMap(load => load.latencies),
            0.99,
          ),
        },
      ]
    }),
  )
}

function statesOf(servers) {
  return Promise.all(servers.map(({ ask }) => ask('state')))
}
