import { expect, it } from 'vitest'
import { createPlatform } from './platform.ts'
import { startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

const CAPACITY = 50
const DELIVERIES = scaled(10_000, 3000)
const ROUNDS = 5
/** Compiled code and the like. Was 80 to 940 for a refused delivery and 540 for a duplicate. */
const MOST_BYTES = 60

/**
 * Garbage that outlives the small collections makes a process grow, under a load that it holds nothing of, until V8
 * comes to a full one.
 */
for (const mode of ['sqlite', 'memory'] as const) {
  it(`leaves nothing for a full garbage collection of what it refuses or has already: ${mode}`, async () => {
    const space = createWorkspace()
    const platform = createPlatform({ connections: 64 })
    const options = { capacity: CAPACITY, concurrency: CAPACITY }
    // Newer versions of Node collect what is young so seldom that this would take minutes.
    const v8Flags = ['--max-semi-space-size=4']
    const receiver = await startReceiver({ mode, ...space, options, v8Flags })
    const hang = { behaviour: 'hang' }

    async function deliver(count: number, idOf: (n: number) => string, status: number): Promise<void> {
      let next = 0
      const workers = Array.from({ length: 64 }, async () => {
        while (next < count) expect(await platform.once(receiver.url, idOf(next++), hang)).toBe(status)
      })
      await Promise.all(workers)
    }
    /** Of several rounds the middle one: in the first ones code is compiled, and in one there may be a full collection. */
    async function keptPerDelivery(idOf: (n: number) => string, status: number): Promise<number> {
      const kept: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const before = await receiver.ask<number>('old')
        await deliver(DELIVERIES, idOf, status)
        kept.push(((await receiver.ask<number>('old')) - before) / DELIVERIES)
      }
      return kept.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
    }

    await deliver(CAPACITY, n => `evt_held_${n}`, 202)
    const refused = await keptPerDelivery(n => `evt_refused_${n}`, 503)
    const repeated = await keptPerDelivery(n => `evt_held_${n % CAPACITY}`, 200)
    console.info(
      `${mode}: ${refused.toFixed(0)} bytes for each refused delivery, ${repeated.toFixed(0)} for each duplicate`,
    )
    expect(refused).toBeLessThan(MOST_BYTES)
    expect(repeated).toBeLessThan(MOST_BYTES)
    receiver.signal('SIGKILL')
    await receiver.exited
    platform.stop()
    space.remove()
  })
}
