import type { Random } from '../lib/seeded-random.ts'

/** One way in which events arrive: their places in the list. A place that comes twice is an event whose handlers run again. */
export type Arrivals = readonly number[]

/** Returns how many orders `count` events have, with each of them once, or with one of them twice. Not exact above 2^53. */
export function countArrivals(count: number): number {
  let orders = 1
  for (let factor = 2; factor <= count; factor++) orders *= factor
  // One of `count` events comes a second time: `(count + 1)!` sequences, of which two each look alike.
  return orders + (orders * (count + 1) * count) / 2
}

/** Returns every order, the given one first, and those with a repetition last: a fault is then shown without one, if it can be. */
export function* allArrivals(count: number): Generator<Arrivals> {
  const places = Array.from({ length: count }, (_, place) => place)
  yield* permutations(places)
  for (const again of places) yield* permutations([...places, again].sort((a, b) => a - b))
}

/** Returns `most` different orders: the given one, its reverse, and others that the random numbers choose. */
export function* someArrivals(count: number, most: number, random: Random): Generator<Arrivals> {
  const given = Array.from({ length: count }, (_, place) => place)
  const seen = new Set<string>()
  const isNew = (arrivals: Arrivals): boolean => seen.size < seen.add(arrivals.join()).size
  for (let next: Arrivals = given; seen.size < most; next = randomArrivals(given, random)) {
    if (isNew(next)) yield next
    const reverse = given.toReversed()
    if (next === given && seen.size < most && isNew(reverse)) yield reverse
  }
}

function randomArrivals(given: Arrivals, random: Random): Arrivals {
  const below = (end: number): number => Math.floor(random() * end)
  const arrivals = [...given]
  if (random() < 0.5) arrivals.push(below(given.length))
  for (let last = arrivals.length - 1; last > 0; last--) {
    const other = below(last + 1)
    const moved = arrivals[last] as number
    arrivals[last] = arrivals[other] as number
    arrivals[other] = moved
  }
  return arrivals
}

/** Returns the permutations of sorted numbers in lexical order, each once, even if a number comes twice. */
function* permutations(sorted: readonly number[]): Generator<Arrivals> {
  if (sorted.length === 0) yield []
  for (const [index, first] of sorted.entries()) {
    if (first === sorted[index - 1]) continue
    for (const rest of permutations(sorted.toSpliced(index, 1))) yield [first, ...rest]
  }
}
