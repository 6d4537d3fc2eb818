import { keepInFlight } from '../../lib/in-flight.mjs'
import { each, interleave, median, ratio } from '../../lib/rounds.mjs'
import { showNumber, showRatio, table } from '../../lib/table.mjs'

const SAMPLE_MS = 500
const HEAD = ['', 'events/s', '÷ raw loop', 'p50 ms', 'p99 ms', 'event loop p99 ms']

/**
 * Ways to make an event safe, at so many in flight. `raw` names the one that the others are compared with. Answers
 * for each step each way's samples, and the table.
 *
 * @param {Record<string, () => Promise<unknown>>} ways
 */
export async function compareAccepting(ways, { raw, steps, rounds }) {
  const rows = []
  const samples = {}
  for (const inFlight of steps) {
    const found = await interleave(Object.keys(ways), {
      rounds,
      warmUps: 1,
      measure: name => keepInFlight(ways[name], { inFlight, ms: SAMPLE_MS }),
    })
    const base = each(found.get(raw), 'perSecond')
    for (const [name, own] of found) {
      const middle = field => showNumber(median(each(own, field)))
      const speed = showRatio(ratio(each(own, 'perSecond'), base))
      rows.push([
        `${name}, ${inFlight} in flight`,
        middle('perSecond'),
        name === raw ? '1' : speed,
        ...['p50Ms', 'p99Ms', 'loopP99Ms'].map(middle),
      ])
    }
    samples[inFlight] = Object.fromEntries(found)
  }
  return { markdown: table(HEAD, rows), samples }
}
