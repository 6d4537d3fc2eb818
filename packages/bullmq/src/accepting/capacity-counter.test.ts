import { expect, it, vi } from 'vitest'
import { CapacityCounter } from './capacity-counter.ts'

const DEADLINE_MS = 200

/** An engine with `unfinished` events, which it counts once its gate is open. */
function anEngine(unfinished: number) {
  const engine = {
    unfinished,
    counts: 0,
    gate: Promise.resolve(),
    async countUnfinished() {
      engine.counts++
      const counted = engine.unfinished
      await engine.gate
      return counted
    },
  }
  return engine
}

/** A counter that found the engine full, but too long ago to rely on. */
async function aFullCounter(engine: ReturnType<typeof anEngine>, capacity: number) {
  const counter = new CapacityCounter(engine, capacity, DEADLINE_MS)
  while (await counter.reserve()) engine.unfinished++
  await new Promise(resolve => setTimeout(resolve, 60))
  return counter
}

it('reserves the room that a count found only once', async () => {
  const engine = anEngine(0)
  const counter = await aFullCounter(engine, 10)
  for (let i = 0; i < 10; i++) counter.release()
  engine.unfinished = 7
  const reserved = await Promise.all(Array.from({ length: 30 }, () => counter.reserve()))
  expect(reserved.filter(Boolean)).toHaveLength(3)
})

it('waits for the first count before it reserves, and reserves if that count fails', async () => {
  const engine = anEngine(3)
  const counter = new CapacityCounter(engine, 4, DEADLINE_MS)
  const reserved = await Promise.all([counter.reserve(), counter.reserve()])
  expect(reserved).toEqual([true, false])
  const broken = { countUnfinished: () => Promise.reject(new Error('gone')) }
  expect(await new CapacityCounter(broken, 4, DEADLINE_MS).reserve()).toBe(true)
})

it('prefers counting pending adds twice to missing them', async () => {
  const engine = anEngine(0)
  const counter = await aFullCounter(engine, 10)
  engine.unfinished = 0
  expect(await counter.reserve()).toBe(false)
})

it('stops counting events that were not added in the end', async () => {
  const engine = anEngine(0)
  const counter = await aFullCounter(engine, 10)
  for (let i = 0; i < 10; i++) counter.release()
  engine.unfinished = 0
  expect(await counter.reserve()).toBe(true)
})

it('reports a full engine without a query, and during one', async () => {
  const engine = anEngine(0)
  const counter = await aFullCounter(engine, 3)
  const { counts } = engine
  expect(counter.isKnownFull()).toBe(false)
  expect(engine.counts).toBe(counts)
  let open = (): void => {}
  engine.gate = new Promise(resolve => {
    open = resolve
  })
  const reserved = counter.reserve()
  expect(counter.isKnownFull()).toBe(true)
  open()
  expect(await reserved).toBe(false)
  expect(engine.counts).toBe(counts + 1)
})

it('rejects if the engine does not reply, and counts again', async () => {
  const engine = anEngine(0)
  const counter = await aFullCounter(engine, 3)
  engine.gate = new Promise(() => {})
  await expect(counter.reserve()).rejects.toThrow(`inbox.count did not respond within ${DEADLINE_MS} ms`)
  engine.gate = Promise.resolve()
  for (let i = 0; i < 3; i++) counter.release()
  engine.unfinished = 0
  await vi.waitFor(async () => expect(await counter.reserve()).toBe(true))
})
