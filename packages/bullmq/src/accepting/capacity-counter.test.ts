import { expect, it, vi } from 'vitest'
import { createGauge } from './capacity.ts'

const DEADLINE_MS = 200

/** An engine that holds `held` events, and counts them when it is let. */
function anEngine(held: number) {
  const engine = {
    held,
    counts: 0,
    gate: Promise.resolve(),
    async countHeld() {
      engine.counts++
      const counted = engine.held
      await engine.gate
      return counted
    },
  }
  return engine
}

const gaugeOf = (engine: ReturnType<typeof anEngine>, capacity: number) =>
  createGauge(engine, capacity, DEADLINE_MS)

/** A gauge that has found the engine full, longer ago than it trusts that. */
async function aFullGauge(engine: ReturnType<typeof anEngine>, capacity: number) {
  const gauge = gaugeOf(engine, capacity)
  while (await gauge.reserve()) engine.held++
  await new Promise(resolve => setTimeout(resolve, 60))
  return gauge
}

it('gives the room that a count found to as many as it is for', async () => {
  const engine = anEngine(0)
  const gauge = await aFullGauge(engine, 10)
  for (let i = 0; i < 10; i++) gauge.release()
  engine.held = 7
  const reserved = await Promise.all(Array.from({ length: 30 }, () => gauge.reserve()))
  expect(reserved.filter(Boolean)).toHaveLength(3)
})

it('counts what is being added twice sooner than not at all', async () => {
  const engine = anEngine(0)
  const gauge = await aFullGauge(engine, 10)
  engine.held = 0
  expect(await gauge.reserve()).toBe(false)
})

it('no longer counts what was not added in the end', async () => {
  const engine = anEngine(0)
  const gauge = await aFullGauge(engine, 10)
  for (let i = 0; i < 10; i++) gauge.release()
  engine.held = 0
  expect(await gauge.reserve()).toBe(true)
})

it('is known to be full without asking anybody, and while it is asked', async () => {
  const engine = anEngine(0)
  const gauge = await aFullGauge(engine, 3)
  const { counts } = engine
  expect(gauge.isKnownFull()).toBe(false)
  expect(engine.counts).toBe(counts)
  let open = (): void => {}
  engine.gate = new Promise(resolve => {
    open = resolve
  })
  const reserved = gauge.reserve()
  expect(gauge.isKnownFull()).toBe(true)
  open()
  expect(await reserved).toBe(false)
  expect(engine.counts).toBe(counts + 1)
})

it('says so when the engine does not answer, and asks again', async () => {
  const engine = anEngine(0)
  const gauge = await aFullGauge(engine, 3)
  engine.gate = new Promise(() => {})
  await expect(gauge.reserve()).rejects.toThrow(`inbox.count did not answer within ${DEADLINE_MS} ms`)
  engine.gate = Promise.resolve()
  for (let i = 0; i < 3; i++) gauge.release()
  engine.held = 0
  await vi.waitFor(async () => expect(await gauge.reserve()).toBe(true))
})
