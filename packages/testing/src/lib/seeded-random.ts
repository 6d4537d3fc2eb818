/** Returns numbers from 0 (included) to 1 (excluded) that look random and repeat for the same seed. */
export type Random = () => number

/**
 * Creates the small generator mulberry32: 32 bits of state, good enough for tests but never for secrets.
 *
 * @example
 * const event = createEvent('conversation.resolved', {}, { random: seededRandom(42) })
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
