import { expect, it } from 'vitest'
import { inFull } from '../../support/in-full.ts'
import { createPlatform } from './platform.ts'
import { type Mode, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

const CAPACITY = 50
const DELIVERIES = scaled(10_000, 2000)
const MOST_ROUNDS = 8
/** Bytes allowed for compiled code and the like. Earlier: 80 to 940 per refused delivery, and 540 per duplicate. */
const MOST_BYTES = 30

/**
 * Garbage that survives minor collections makes a process grow, even if it holds nothing, until V8 runs a full
 * collection.
 */
for (const mode of inFull<readonly Mode[]>(['sqlite', 'memory'], ['memory'])) {
  it(`leaves nothing for a full garbage collection of what it refuses or has already: ${mode}`, async () => {
    const space = createWorkspace()
    const platform = createPlatform({ connections: 64 })
    const options = { capacity: CAPACITY, concurrency: CAPACITY }
    // Newer Node versions collect the young generation so rarely that this would take minutes.
    const v8Flags = ['--max-semi-space-size=4']
    const receiver = await startReceiver({ mode, ...space, options, v8Flags })
    const hang = { behavior: 'hang' }

    async function deliver(count: number, idOf: (n: number) => string, status: number): Promise<void> {
      let next = 0
      const workers = Array.from({ length: 64 }, async () => {
        while (next < count) expect(await platform.once(receiver.url, idOf(next++), hang)).toBe(status)
      })
      await Promise.all(workers)
    }
    /** Measures several rounds, until one leaves nothing: in the first ones, code is compiled. */
    async function keptPerDelivery(idOf: (n: number) => string, status: number): Promise<number[]> {
      const kept: number[] = []
      while (kept.length < MOST_ROUNDS && !kept.some(isNothing)) {
        const before = await receiver.ask<number>('old')
        await deliver(DELIVERIES, idOf, status)
        kept.push(Math.round(((await receiver.ask<number>('old')) - before) / DELIVERIES))
      }
      return kept
    }

    await deliver(CAPACITY, n => `evt_held_${n}`, 202)
    const refused = await keptPerDelivery(n => `evt_refused_${n}`, 503)
    const repeated = await keptPerDelivery(n => `evt_held_${n % CAPACITY}`, 200)
    console.info(
      `${mode}: ${refused.join(', ')} bytes for each refused delivery, ${repeated.join(', ')} for each duplicate`,
    )
    expect(refused).toSatisfy((kept: number[]) => kept.some(isNothing))
    expect(repeated).toSatisfy((kept: number[]) => kept.some(isNothing))
    receiver.signal('SIGKILL')
    await receiver.exited
    platform.stop()
    space.remove()
  }, 300_000)
}

/** A value far below zero means that a full collection ran in the middle. */
function isNothing(bytes: number): boolean {
  return Math.abs(bytes) < MOST_BYTES
}
