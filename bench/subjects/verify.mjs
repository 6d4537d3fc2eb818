import { Comparison, compareRounds } from '../lib/comparison.mjs'
import { measureInProcess } from '../lib/measure-in-process.mjs'
import { showBytes, showDecided, showNumber, table } from '../lib/table.mjs'
import { FLOOR, HAND_WRITTEN, NATIVE, OURS } from './verify/contenders.mjs'

const SIZES = [300, 2000, 20_000, 256_000]
const CHILD = new URL('verify/round-child.mjs', import.meta.url)
const STRIPE = 'stripe verifyHeader'
const OCTOKIT = '@octokit/webhooks-methods'

/** Measures the processor time of verification, without HTTP. Each round is a new process. */
export async function measureVerify({ quick, bodies: sizes = SIZES }) {
  const rounds = []
  // The smallest size has the closest targets, so it decides when to stop.
  await compareRounds(
    async () => {
      rounds.push(await measureInProcess(CHILD, [JSON.stringify(sizes)]))
      return rounds.at(-1)[sizes[0]]
    },
    {
      ...{ quick, within: 0.015, fewest: 12, most: 120, seconds: 240 },
      decides: [STRIPE, OCTOKIT].map(one => ['ns', one, OURS]),
    },
  )
  const rows = new Map()
  const figures = {}
  for (const size of sizes) {
    const comparison = new Comparison()
    for (const round of rounds) comparison.add(round[size])
    const ratioTo = (base, name) => comparison.ratioOf('ns', name, base)
    const names = Object.keys(rounds[0][size])
    for (const name of names) {
      const microseconds = `${showNumber(comparison.middleOf('ns', FLOOR) / 1000)} µs`
      const cell = name === FLOOR ? microseconds : showDecided(ratioTo(FLOOR, name))
      rows.set(name, [...(rows.get(name) ?? [name]), cell])
    }
    const peers = names.filter(name => ![FLOOR, HAND_WRITTEN, NATIVE, OURS].includes(name))
    const toEach = base => Object.fromEntries(peers.map(name => [name, ratioTo(base, name)]))
    figures[size] = { toFastest: ratioTo(FLOOR, OURS), peers: toEach(OURS), bounds: toEach(NATIVE) }
  }
  return {
    markdown: [
      '## Verification alone, in process',
      `Processor time per call, divided by that of the fastest correct way; lower is better. ${rounds.length} processes, each with turns of a millisecond for every contender. The ratio is the geometric mean over the processes with its 95 % interval; "undecided": wider than ±5 %. "${NATIVE}" calls only the OpenSSL functions for a signature, on prepared bytes, and reads, copies and compares nothing. No verification in JavaScript can be faster.`,
      table(['', ...sizes.map(showBytes)], [...rows.values()]),
    ].join('\n\n'),
    figures: { alone: figures },
  }
}
