import { compareRounds, inTurns } from '../../lib/comparison.mjs'
import { keepInFlight } from '../../lib/in-flight.mjs'
import { showDecided, showNumber, table } from '../../lib/table.mjs'

/** Short, so that other load on the machine slows all ways of a round. */
const SAMPLE_MS = 200
const WARM_UPS = 3
const HEAD = ['', 'events/s', '÷ raw', 'p50 ms', 'p50 ÷ raw', 'p99 ms', 'event loop p99 ms']

/**
 * Compares ways to store an event safely. `raw` maps each number in flight to the way that the last one is compared with.
 * Returns the comparison at each step, and the table.
 *
 * @param {Record<string, () => Promise<unknown>>} ways
 * @param {{ raw: Record<number, string>, quick: boolean }} options
 */
export async function compareAccepting(ways, { raw, quick }) {
  const names = Object.keys(ways)
  const rows = []
  const steps = {}
  for (const [step, base] of Object.entries(raw)) {
    const measure = name => keepInFlight(ways[name], { inFlight: Number(step), ms: SAMPLE_MS })
    for (let warmUp = 0; warmUp < WARM_UPS; warmUp++) for (const name of names) await measure(name)
    const found = await compareRounds(inTurns(names, measure), {
      quick,
      ...{ fewest: 10, most: 200, seconds: 60 },
      decides: [
        ['perSecond', names.at(-1), base],
        ['p50Ms', names.at(-1), base],
      ],
    })
    for (const name of names) {
      const toRaw = field => (name === base ? '1' : showDecided(found.ratioOf(field, name, base)))
      const middle = field => showNumber(found.middleOf(field, name))
      rows.push([
        `${name}, ${step} in flight`,
        middle('perSecond'),
        toRaw('perSecond'),
        middle('p50Ms'),
        toRaw('p50Ms'),
        middle('p99Ms'),
        middle('loopP99Ms'),
      ])
    }
    steps[step] = found
  }
  return { markdown: table(HEAD, rows), steps }
}
