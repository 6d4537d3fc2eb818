import { monitorEventLoopDelay } from 'node:perf_hooks'
import { percentile } from './percentile.mjs'

/**
 * Keeps `inFlight` calls of `work` running for `ms`. Returns calls per second, their p50 and p99, this process's processor
 * time per call, and the event loop delay at p99.
 */
export async function keepInFlight(work, { inFlight, ms }) {
  const latencies = []
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const cpu = process.cpuUsage()
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
  const { user, system } = process.cpuUsage(cpu)
  loop.disable()
  return {
    calls: latencies.length,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    cpuUs: (user + system) / latencies.length,
    // Work that never yields blocks the event loop the whole time.
    loopP99Ms: loop.count > 0 ? loop.percentile(99) / 1e6 : seconds * 1000,
  }
}
