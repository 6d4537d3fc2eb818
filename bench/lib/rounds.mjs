import { geometricInterval } from './interval.mjs'

/**
 * Measures contenders in turns, A B C C B A A B C …, so that whatever slows the machine for a while slows all
 * of them alike. Answers each contender's samples in the order of the rounds.
 *
 * @template T
 * @param {readonly string[]} names
 * @param {{ rounds: number, warmUps?: number, measure: (name: string, round: number) => T | Promise<T> }} options
 * `warmUps`: rounds that come before and do not count.
 * @returns {Promise<Map<string, T[]>>}
 */
export async function interleave(names, { rounds, warmUps = 0, measure }) {
  const samples = new Map(names.map(name => [name, []]))
  for (let round = -warmUps; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) {
      const sample = await measure(name, round)
      if (round >= 0) samples.get(name).push(sample)
    }
  }
  return samples
}

/** The middle of the values. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** How two contenders compare: the ratios of the rounds, with their 95 % interval. */
export function ratio(samples, base) {
  return geometricInterval(samples.map((sample, round) => sample / base[round]))
}

/** One field of each sample. */
export function each(samples, field) {
  return samples.map(sample => sample[field])
}
