import { median } from './rounds.mjs'

const RESAMPLES = 4000
/** Half of the interval, as a share of its middle. A wider one does not decide. */
const WIDEST = 0.05

/**
 * The median of the values with its 95 % interval, by bootstrap. The values come in groups, one for each start of the
 * servers: two processes with the same code differ by one or two per cent for as long as they live. So each resample
 * draws groups first and then values in them. The same values always give the same interval.
 *
 * @param {readonly (readonly number[])[]} groups
 * @returns {{ middle: number, low: number, high: number }}
 */
export function medianInterval(groups, { seed = 1 } = {}) {
  const random = randomFrom(seed)
  const oneOf = list => list[Math.floor(random() * list.length)]
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(groups.map(() => oneOf(groups)).flatMap(group => group.map(() => oneOf(group)))),
  ).sort((a, b) => a - b)
  return {
    middle: median(groups.flat()),
    low: medians[Math.floor(RESAMPLES * 0.025)],
    high: medians[Math.ceil(RESAMPLES * 0.975) - 1],
  }
}

/** Whether the interval is at most ±5 % wide. */
export function isNarrow({ middle, low, high }) {
  return (high - low) / 2 <= WIDEST * middle
}

/**
 * `fails` when the whole interval lies above the bound, otherwise `undecided` when it is wider than ±5 %, otherwise
 * `holds`. A wide interval never passes.
 */
export function verdictOf(interval, { most }) {
  if (interval.low > most) return 'fails'
  return isNarrow(interval) ? 'holds' : 'undecided'
}

/** Numbers from 0 to 1 that look random (mulberry32). */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
