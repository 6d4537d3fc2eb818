import { geometricInterval } from './interval.mjs'

/**
 * Measures contenders in turns, A B C C B A A B C …, so that other load on the machine slows all of them equally. Returns
 * each contender's samples in the order of the rounds.
 *
 * @template T
 * @param {readonly string[]} names
 * @param {{ rounds: number, warmUps?: number, measure: (name: string, round: number) => T | Promise<T> }} options
 * `warmUps`: initial rounds that do not count.
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

/** Returns the median of the values. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Compares two contenders: the ratios of the rounds, with their 95 % interval. */
export function ratio(samples, base) {
  return geometricInterval(samples.map((sample, round) => sample / base[round]))
}

/** Returns one field of each sample. */
export function each(samples, field) {
  return samples.map(sample => sample[field])
}
