/** Returns the value that `share` of the values do not exceed. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
