import { expect, it } from 'vitest'
import { createPlatform } from './platform.ts'
import { startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

const CAPACITY = 50
const DELIVERIES = scaled(20_000, 5000)
/** Compiled code and the like. It was 80 to 600 for a refused delivery and 540 for a duplicate. */
const MOST_BYTES = 40

/**
 * Garbage that outlives the small collections makes a process grow, under a load that it holds nothing of, until V8
 * comes to a full one.
 */
for (const mode of ['sqlite', 'memory'] as const) {
  it(`leaves nothing for a full garbage collection of what it refuses or has already: ${mode}`, async () => {
    const space = createWorkspace()
    const platform = createPlatform({ connections: 64 })
    const options = { capacity: CAPACITY, concurrency: CAPACITY }
    const receiver = await startReceiver({ mode, ...space, options })
    const hang = { behaviour: 'hang' }

    async function deliver(count: number, idOf: (n: number) => string, status: number): Promise<void> {
      let next = 0
      const workers = Array.from({ length: 64 }, async () => {
        while (next < count) expect(await platform.once(receiver.url, idOf(next++), hang)).toBe(status)
      })
      await Promise.all(workers)
    }
    async function keptPerDelivery(idOf: (n: number) => string, status: number): Promise<number> {
      // What is compiled on the way stays.
      await deliver(DELIVERIES, idOf, status)
      const before = await receiver.ask<number>('old')
      await deliver(DELIVERIES, idOf, status)
      return ((await receiver.ask<number>('old')) - before) / DELIVERIES
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
