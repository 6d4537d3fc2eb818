import { geometricInterval, isWithin, median, WIDEST } from './interval.mjs'

/** Fewer give intervals that are too wide to use. */
const FEWEST_ROUNDS = 5
const MOST_ROUNDS = 20
const MOST_SECONDS = 90
/** Enough to see that everything runs, too few for a close decision. */
const QUICK_ROUNDS = 3

/** Results of several rounds: one value for each field of each contender in each round. */
export class Comparison {
  #rounds = []

  /** @param {Record<string, Record<string, number>>} round the fields of each contender */
  add(round) {
    this.#rounds.push(round)
  }

  get size() {
    return this.#rounds.length
  }

  valuesOf(field, name) {
    return this.#rounds.map(round => round[name][field])
  }

  middleOf(field, name) {
    return median(this.valuesOf(field, name))
  }

  intervalOf(field, name) {
    return geometricInterval(this.valuesOf(field, name))
  }

  /** Returns `one ÷ other`, taken within each round, because a machine's speed never stays constant for long. */
  ratioOf(field, one, other) {
    return geometricInterval(this.#rounds.map(round => round[one][field] / round[other][field]))
  }
}

/**
 * Measures rounds until every ratio in `decides` has an interval of ±`within`, or the rounds or the time run out. If
 * processes with the same code differ, each round starts new ones.
 *
 * @param {(number: number) => Promise<Record<string, Record<string, number>>>} measureRound
 * @param {{
 *   decides: readonly (readonly [field: string, one: string, other: string])[],
 *   within?: number,
 *   quick?: boolean,
 *   fewest?: number,
 *   most?: number,
 *   seconds?: number,
 * }} options
 */
export async function compareRounds(
  measureRound,
  {
    decides,
    within = WIDEST,
    quick = false,
    fewest = FEWEST_ROUNDS,
    most = MOST_ROUNDS,
    seconds = MOST_SECONDS,
  },
) {
  const comparison = new Comparison()
  const end = performance.now() + seconds * 1000
  const isDecided = () =>
    decides.every(([field, one, other]) => isWithin(comparison.ratioOf(field, one, other), within))
  const isEnough = () => {
    if (comparison.size < (quick ? QUICK_ROUNDS : fewest)) return false
    return quick || isDecided() || comparison.size >= most || performance.now() > end
  }
  while (!isEnough()) comparison.add(await measureRound(comparison.size))
  return comparison
}

/**
 * Returns a round that measures one contender after the other: A B in one round, B A in the next.
 *
 * @param {readonly string[]} names
 * @param {(name: string, number: number) => Promise<Record<string, number>>} measure
 */
export function inTurns(names, measure) {
  return async number => {
    const round = {}
    for (const name of number % 2 === 0 ? names : names.toReversed())
      round[name] = await measure(name, number)
    return round
  }
}
