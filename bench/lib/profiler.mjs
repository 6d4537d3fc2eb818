import { Session } from 'node:inspector/promises'

/** Starts profiling this process. Returns a function that stops it and returns the profile. */
export async function startProfile(kind) {
  const session = new Session()
  session.connect()
  if (kind === 'cpu') {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 200 })
    await session.post('Profiler.start')
    return async () => (await session.post('Profiler.stop')).profile
  }
  // Counts all allocations, including those already collected: garbage has a cost too.
  const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await session.post('HeapProfiler.startSampling', { samplingInterval: 16_384, ...all })
  return async () => (await session.post('HeapProfiler.stopSampling')).profile
}
