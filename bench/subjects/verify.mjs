import { Comparison, compareRounds } from '../lib/comparison.mjs'
import { measureInProcess } from '../lib/measure-in-process.mjs'
import { showBytes, showDecided, showNumber, table } from '../lib/table.mjs'
import { FLOOR, HAND_WRITTEN, NATIVE, OURS } from './verify/contenders.mjs'

const SIZES = [300, 2000, 20_000, 256_000]
const CHILD = new URL('verify/round-child.mjs', import.meta.url)
const STRIPE = 'stripe verifyHeader'
const OCTOKIT = '@octokit/webhooks-methods'

/** Measures the processor time of verification, with and without `JSON.parse`, without HTTP. Each round is a new process. */
export async function measureVerify({ quick, bodies }) {
  const sizes = bodies ?? SIZES
  const rounds = []
  // The comparison with the closest targets decides when to stop: verification alone at the smallest size.
  await compareRounds(
    async () => {
      rounds.push(await measureInProcess(CHILD, [JSON.stringify(sizes)]))
      return rounds.at(-1)[sizes[0]].alone
    },
    {
      ...{ quick, within: 0.015, fewest: 12, most: 120, seconds: 900 },
      decides: [STRIPE, OCTOKIT].map(one => ['ns', one, OURS]),
    },
  )
  const whole = compare(rounds, sizes, 'whole')
  const alone = compare(rounds, sizes, 'alone')
  return {
    markdown: [
      '## Verify and parse, in process',
      `Processor time per call, divided by that of the fastest correct way; lower is better. ${rounds.length} processes, each with turns of a millisecond for every contender. The ratio is the geometric mean over the processes with its 95 % interval; "undecided": wider than ±5 %.`,
      `### Verify and parse\n\n${whole.table}`,
      '### Verification alone',
      `"${NATIVE}" calls only the OpenSSL functions for a signature, on prepared bytes, and reads, copies and compares nothing. No verification in JavaScript can be faster.`,
      alone.table,
    ].join('\n\n'),
    figures: { whole: whole.figures, alone: alone.figures },
  }
}

/** Returns, for each size, ours as a ratio to the fastest way, and each peer as a ratio to ours. */
function compare(rounds, sizes, kind) {
  const rows = new Map()
  const figures = {}
  for (const size of sizes) {
    const comparison = new Comparison()
    for (const round of rounds) comparison.add(round[size][kind])
    const names = Object.keys(rounds[0][size][kind])
    for (const name of names) {
      const cell =
        name === FLOOR
          ? `${showNumber(comparison.middleOf('ns', FLOOR) / 1000)} µs`
          : showDecided(comparison.ratioOf('ns', name, FLOOR))
      rows.set(name, [...(rows.get(name) ?? [name]), cell])
    }
    const peers = names.filter(name => ![FLOOR, HAND_WRITTEN, NATIVE, OURS].includes(name))
    figures[size] = {
      toFastest: comparison.ratioOf('ns', OURS, FLOOR),
      peers: Object.fromEntries(peers.map(name => [name, comparison.ratioOf('ns', name, OURS)])),
      ...(names.includes(NATIVE) && {
        bounds: Object.fromEntries(peers.map(name => [name, comparison.ratioOf('ns', name, NATIVE)])),
      }),
    }
  }
  return { table: table(['', ...sizes.map(showBytes)], [...rows.values()]), figures }
}
