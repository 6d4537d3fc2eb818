import { Session } from 'node:inspector/promises'

/** Profiles this process from now on. Answers a function that ends it and gives the profile. */
export async function startProfile(kind) {
  const session = new Session()
  session.connect()
  if (kind === 'cpu') {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 200 })
    await session.post('Profiler.start')
    return async () => (await session.post('Profiler.stop')).profile
  }
  // Whatever was allocated counts, also what is garbage by now: garbage is what has to be collected.
  const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await session.post('HeapProfiler.startSampling', { samplingInterval: 16_384, ...all })
  return async () => (await session.post('HeapProfiler.stopSampling')).profile
}
