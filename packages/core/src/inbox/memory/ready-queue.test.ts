import { expect, it } from 'vitest'
import type { Entry } from './entry.ts'
import { ReadyQueue } from './queueing-scheduler.ts'

let arrivals = 0
const entry = (key: string | undefined, createdAt = 0) =>
  ({ key: `e${arrivals++}`, delivery: key === undefined ? {} : { order: { key, createdAt } } }) as Entry

it('shifts one entry of a key at a time, the oldest first', () => {
  const queue = new ReadyQueue<Entry>()
  const [second, third, first] = [entry('k', 2), entry('k', 3), entry('k', 1)]
  for (const one of [second, third, first]) queue.push(one)
  expect(queue.shift()).toBe(first)
  expect(queue.shift()).toBeUndefined()
  queue.remove(first)
  expect(queue.shift()).toBe(second)
  expect(queue.shift()).toBeUndefined()
  queue.remove(second)
  expect(queue.shift()).toBe(third)
  queue.remove(third)
  expect(queue.shift()).toBeUndefined()
})

it('keeps the order of arrival among events of the same instant', () => {
  const queue = new ReadyQueue<Entry>()
  const list = [entry('k', 1), entry('k', 1), entry('k', 1)]
  for (const one of list) queue.push(one)
  for (const one of list) {
    expect(queue.shift()).toBe(one)
    queue.remove(one)
  }
})

it('runs keys independently, and entries without a key in parallel', () => {
  const queue = new ReadyQueue<Entry>()
  const [a1, a2, b1, free1, free2] = [entry('a'), entry('a'), entry('b'), entry(undefined), entry(undefined)]
  for (const one of [a1, a2, b1, free1, free2]) queue.push(one)
  expect([queue.shift(), queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
    a1,
    b1,
    free1,
    free2,
    undefined,
  ])
})

it('keeps the key of an entry that waits for a retry', () => {
  const queue = new ReadyQueue<Entry>()
  const [first, second] = [entry('k', 1), entry('k', 2)]
  queue.push(first)
  queue.push(second)
  expect(queue.shift()).toBe(first)
  expect(queue.shift()).toBeUndefined()
  queue.push(first)
  expect(queue.shift()).toBe(first)
  expect(queue.shift()).toBeUndefined()
  queue.remove(first)
  expect(queue.shift()).toBe(second)
})

it.each([
  ['of the same instant', 1],
  ['that is older and arrived later', 0],
])('does not let an entry %s overtake one that returns for a retry', (_, createdAt) => {
  const queue = new ReadyQueue<Entry>()
  const [first, second] = [entry('k', 1), entry('k', createdAt)]
  queue.push(first)
  expect(queue.shift()).toBe(first)
  queue.push(second)
  queue.push(first)
  expect(queue.shift()).toBe(first)
  queue.remove(first)
  expect(queue.shift()).toBe(second)
})

it('retries an entry without a key independently', () => {
  const queue = new ReadyQueue<Entry>()
  const [one, other] = [entry(undefined), entry(undefined)]
  queue.push(one)
  queue.push(other)
  expect([queue.shift(), queue.shift()]).toEqual([one, other])
  queue.push(one)
  expect(queue.shift()).toBe(one)
  queue.remove(one)
  queue.remove(other)
  expect(queue.shift()).toBeUndefined()
})

it('removes an entry that is finished while it waits', () => {
  const queue = new ReadyQueue<Entry>()
  const [first, second, third] = [entry('k', 1), entry('k', 2), entry('k', 3)]
  for (const one of [first, second, third]) queue.push(one)
  expect(queue.shift()).toBe(first)
  queue.remove(second)
  queue.remove(first)
  expect(queue.shift()).toBe(third)
  queue.remove(third)
})

it('starts over with a key that became empty before it was shifted', () => {
  const queue = new ReadyQueue<Entry>()
  const [first, second] = [entry('k', 1), entry('k', 2)]
  queue.push(first)
  queue.remove(first)
  expect(queue.shift()).toBeUndefined()
  queue.push(second)
  expect(queue.shift()).toBe(second)
  queue.remove(second)
  queue.remove(second)
  expect(queue.shift()).toBeUndefined()
})

it('never shifts two entries of a key, in any order of calls', () => {
  const queue = new ReadyQueue<Entry>()
  const running = new Map<string, Entry>()
  const handled: Entry[] = []
  let seed = 7
  const random = (n: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % n
  }
  let pushed = 0
  for (let step = 0; step < 20_000; step++) {
    const choice = random(3)
    if (choice === 0 && pushed < 4000) {
      queue.push(entry(`k${random(5)}`, random(100)))
      pushed++
    } else if (choice === 1) {
      const next = queue.shift()
      if (next === undefined) continue
      const key = next.delivery.order?.key as string
      expect(running.has(key)).toBe(false)
      running.set(key, next)
    } else {
      const [key] = [...running.keys()]
      if (key === undefined) continue
      const done = running.get(key) as Entry
      running.delete(key)
      if (random(4) === 0) queue.push(done)
      else {
        queue.remove(done)
        handled.push(done)
      }
    }
  }
  for (;;) {
    const next = queue.shift()
    if (next !== undefined) running.set(next.delivery.order?.key as string, next)
    const [done] = [...running.values()]
    if (done === undefined) break
    running.delete(done.delivery.order?.key as string)
    queue.remove(done)
    handled.push(done)
  }
  expect(handled).toHaveLength(pushed)
  expect(new Set(handled).size).toBe(pushed)
})

it('is first in, first out without keys, in any order of calls', () => {
  const queue = new ReadyQueue<Entry>()
  const waiting: Entry[] = []
  expect(queue.shift()).toBeUndefined()
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 30; i++) {
      const one = entry(undefined)
      queue.push(one)
      waiting.push(one)
    }
    for (let i = 0; i < 20; i++) expect(queue.shift()).toBe(waiting.shift())
  }
  while (waiting.length > 0) expect(queue.shift()).toBe(waiting.shift())
  expect(queue.shift()).toBeUndefined()
})
