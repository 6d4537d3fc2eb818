/**
 * Measures contenders in turns, A B C C B A A B C …, so that whatever slows the machine for a while slows all
 * of them alike. Answers each contender's samples in the order of the rounds.
 *
 * @template T
 * @param {readonly string[]} names
 * @param {{ rounds: number, measure: (name: string, round: number) => T | Promise<T> }} options
 * @returns {Promise<Map<string, T[]>>}
 */
export async function interleave(names, { rounds, measure }) {
  const samples = new Map(names.map(name => [name, []]))
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) samples.get(name).push(await measure(name, round))
  }
  return samples
}

/** The middle of the values. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * How two contenders compare: the median of the ratios of each round, with the lowest and the highest. A round's
 * two samples were taken seconds apart, so their ratio is steadier than either of them.
 */
export function ratio(samples, base) {
  const ratios = samples.map((sample, round) => sample / base[round])
  return { middle: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) }
}
