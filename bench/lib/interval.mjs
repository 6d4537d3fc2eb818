/** 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom; the last applies to all above. */
const STUDENT_T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]
/** Largest half-width of a conclusive interval, as a share of its middle. */
export const WIDEST = 0.05

/**
 * Returns the mean of independent values with its 95 % interval, by Student's t: with six or eight values, a bootstrap
 * gives intervals that are too narrow. `isNarrow`: the interval is at most ±5 % wide.
 *
 * @param {readonly number[]} values one for each start
 */
export function meanInterval(values) {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length
  if (values.length < 2) return withWidth({ middle: mean, low: -Infinity, high: Infinity })
  const squares = values.reduce((sum, one) => sum + (one - mean) ** 2, 0)
  const error = Math.sqrt(squares / (values.length - 1) / values.length)
  const half = (STUDENT_T[values.length - 2] ?? STUDENT_T.at(-1)) * error
  return withWidth({ middle: mean, low: mean - half, high: mean + half })
}

/** Like `meanInterval`, for ratios and times, by their logarithms: 2 and 0.5 are equally far from 1. */
export function geometricInterval(values) {
  const { middle, low, high } = meanInterval(values.map(Math.log))
  return withWidth({ middle: Math.exp(middle), low: Math.exp(low), high: Math.exp(high) })
}

/**
 * Judges by the less favorable end: `met` if the whole interval is within the limit, `missed` if the whole interval or a
 * part of a narrow one is beyond it, otherwise `undecided`.
 *
 * @param {{ low: number, high: number, isNarrow: boolean }} interval
 * @param {{ least?: number, most?: number }} limit
 */
export function verdictOf({ low, high, isNarrow }, { least = -Infinity, most = Infinity }) {
  if (low >= least && high <= most) return 'met'
  return isNarrow || high < least || low > most ? 'missed' : 'undecided'
}

/** Returns whether half of the interval is at most this share of its middle. */
export function isWithin({ middle, low, high }, share) {
  return (high - low) / 2 <= share * Math.abs(middle)
}

function withWidth(interval) {
  return { ...interval, isNarrow: isWithin(interval, WIDEST) }
}

/** Returns the median of the values. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Returns the value that `share` of the values do not exceed. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
