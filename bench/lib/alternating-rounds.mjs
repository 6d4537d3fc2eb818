import { isNarrow, medianInterval } from './bootstrap-interval.mjs'
import { load } from './load.mjs'
import { separateProcessors } from './processors.mjs'
import { interleave, median } from './rounds.mjs'
import { startServer } from './server.mjs'

const SECONDS = 0.4
/** Two processes with the same code differ for as long as they live, so the servers are often started anew. */
const ROUNDS_OF_ONE_START = 5
/** Fewer would not show how much starts differ. */
const FEWEST_STARTS = 4
const WARM_UP_SECONDS = 1
/** The first rounds of a start differ by up to a quarter: code is compiled again and the heap still grows. */
const WARM_UP_ROUNDS = 2

const { pin, note } = separateProcessors()

/** Where the servers and the load ran. */
export const placement = note

/**
 * Measures servers against each other: all are up at once and get 0.4 s of load in turns, A B B A A B …. Each start is
 * warmed up first. `rounds` is rounded up to whole starts.
 *
 * A sample is one round: the processor time of the server for each request, requests a second, p99 and resident
 * memory.
 *
 * @param {readonly string[]} names
 * @param {{
 *   rounds: number,
 *   serverOf: (name: string) => [module: string, variant: string, start?: Parameters<typeof startServer>[2]],
 *   requestOf: (name: string) => Pick<Parameters<typeof load>[0], 'body' | 'dialect'>,
 * }} options
 */
export async function alternate(names, { rounds, serverOf, requestOf }) {
  const count = Math.max(FEWEST_STARTS, Math.ceil(rounds / ROUNDS_OF_ONE_START))
  const starts = []
  for (let number = 0; number < count; number++) {
    // Every other start begins with the last one: being started first must not count.
    const order = number % 2 === 0 ? names : names.toReversed()
    starts.push(await oneStart(order, { rounds: Math.ceil(rounds / count), serverOf, requestOf }))
  }
  return results(starts)
}

async function oneStart(names, { rounds, serverOf, requestOf }) {
  const servers = new Map()
  try {
    for (const name of names) {
      const [module, variant, start = {}] = serverOf(name)
      servers.set(name, await startServer(module, variant, pin(start)))
    }
    const run = (name, seconds) => load({ port: servers.get(name).port, ...requestOf(name), seconds })
    for (const name of names) await run(name, WARM_UP_SECONDS)
    return await interleave(names, {
      rounds,
      warmUps: WARM_UP_ROUNDS,
      async measure(name) {
        const before = await servers.get(name).ask('state')
        const { perSecond, p99Ms, answered } = await run(name, SECONDS)
        const { cpuUs, memory } = await servers.get(name).ask('state')
        return { perSecond, p99Ms, cpuUs: (cpuUs - before.cpuUs) / answered, rss: memory.rss }
      },
    })
  } finally {
    for (const server of servers.values()) await server.stop()
  }
}

/** @param {Map<string, { perSecond: number, p99Ms: number, cpuUs: number, rss: number }[]>[]} starts */
function results(starts) {
  return {
    /** The middle of all rounds. */
    middleOf: (field, name) => median(starts.flatMap(start => start.get(name).map(sample => sample[field]))),
    /** `one ÷ other`: the median of the ratios of each round, with its 95 % interval. */
    ratioOf(field, one, other) {
      const interval = medianInterval(
        starts.map(start => start.get(one).map((sample, i) => sample[field] / start.get(other)[i][field])),
      )
      return { ...interval, isNarrow: isNarrow(interval) }
    },
  }
}
