/** Calls `work` again and again, so many at one time, for so long. Answers calls a second and their p99. */
export async function keepInFlight(work, { inFlight, ms }) {
  const latencies = []
  const start = performance.now()
  const end = start + ms
  const lane = async () => {
    for (let began = performance.now(); began < end; ) {
      await work()
      const now = performance.now()
      latencies.push(now - began)
      began = now
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const seconds = (performance.now() - start) / 1000
  const sorted = Float64Array.from(latencies).sort()
  const at = share => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return { perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}
