import { expect, it } from 'vitest'
import type { Entry } from './entry.ts'
import { ReadyQueue, type ReadyQueueParts } from './ready-queue.ts'

let arrivals = 0
const entry = (key: string | undefined, createdAt = 0) =>
  ({
    key: `e${arrivals++}`,
    delivery: key === undefined ? {} : { order: { key, createdAt } },
    attempts: 0,
  }) as unknown as Entry
const newQueue = (parts: Partial<ReadyQueueParts> = {}) =>
  new ReadyQueue<Entry>({ concurrency: 16, ...parts })

it('shifts one entry of a key at a time, the oldest first', () => {
  const queue = newQueue()
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
  const queue = newQueue()
  const list = [entry('k', 1), entry('k', 1), entry('k', 1)]
  for (const one of list) queue.push(one)
  for (const one of list) {
    expect(queue.shift()).toBe(one)
    queue.remove(one)
  }
})

it('runs keys independently, and entries without a key in parallel', () => {
  const queue = newQueue()
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
  const queue = newQueue()
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
  const queue = newQueue()
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
  const queue = newQueue()
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
  const queue = newQueue()
  const [first, second, third] = [entry('k', 1), entry('k', 2), entry('k', 3)]
  for (const one of [first, second, third]) queue.push(one)
  expect(queue.shift()).toBe(first)
  queue.remove(second)
  queue.remove(first)
  expect(queue.shift()).toBe(third)
  queue.remove(third)
})

it('starts over with a key that became empty before it was shifted', () => {
  const queue = newQueue()
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
  const queue = newQueue()
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
  const queue = newQueue()
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

/** Lines up entries and returns their names in the order of their turns, `running` of which run at a time. */
function turnsOf(queue: ReadyQueue<Entry>, running: number): string[] {
  const names: string[] = []
  const ends: (() => void)[] = []
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    names.push(next.delivery.type)
    const turn = queue.began(next)
    ends.push(() => turn && queue.ended(turn))
    if (ends.length === running) ends.shift()?.()
  }
  return names
}

let made = 0
const grouped = (group: string, parts: { attempts?: number; key?: string; createdAt?: number } = {}) => {
  const { attempts = 0, key, createdAt = 0 } = parts
  const order = key === undefined ? {} : { order: { key, createdAt } }
  return { delivery: { type: `${group}${made++}`, group, ...order }, attempts } as unknown as Entry
}
const letters = (names: readonly string[]) => names.map(name => name.replace(/\d+/, '')).join('')

it('gives turns to groups, and those that come later get theirs at once', () => {
  const queue = newQueue({ perGroup: 2 })
  for (const group of 'aaaaaabbbc') queue.push(grouped(group))
  expect(letters(turnsOf(queue, 2))).toBe('abcababaaa')
})

it('runs no more entries of a group than its limit, whoever comes next', () => {
  const queue = newQueue({ perGroup: 1 })
  for (const group of 'aaab') queue.push(grouped(group))
  const first = queue.shift() as Entry
  const turn = queue.began(first)
  expect(first.delivery.group).toBe('a')
  const second = queue.shift() as Entry
  expect(second.delivery.group).toBe('b')
  queue.began(second)
  expect(queue.shift()).toBeUndefined()
  queue.push(grouped('a'))
  expect(queue.shift()).toBeUndefined()
  if (turn) queue.ended(turn)
  expect(queue.shift()?.delivery.group).toBe('a')
})

it('counts the oldest event of a key for its own group, even if it came last', () => {
  const queue = newQueue({ perGroup: 1 })
  queue.began(grouped('b'))
  queue.push(grouped('a', { key: 'k', createdAt: 2 }))
  const older = grouped('b', { key: 'k', createdAt: 1 })
  queue.push(older)
  expect(queue.shift()).toBeUndefined()
  queue.ended({ group: 'b', isRetry: false })
  expect(queue.shift()).toBe(older)
})

it.each([1, 2, 7])('alternates retries with first attempts if %i run at a time', running => {
  const queue = newQueue({ concurrency: running })
  for (let i = 0; i < 6; i++) queue.push(grouped('r', { attempts: 1 }))
  for (let i = 0; i < 6; i++) queue.push(grouped('f'))
  const turns = letters(turnsOf(queue, running))
  expect(turns.slice(0, 6)).toBe('rfrfrf')
  expect(turns.length).toBe(12)
})

it('lets retries have half of the slots while first attempts wait, and all of them otherwise', () => {
  const queue = newQueue({ concurrency: 4 })
  for (let i = 0; i < 4; i++) {
    queue.push(grouped('r', { attempts: 1 }))
    queue.push(grouped('f'))
  }
  const begun: string[] = []
  const begin = (): void => {
    const next = queue.shift() as Entry
    begun.push(next.delivery.type)
    queue.began(next)
  }
  for (let i = 0; i < 8; i++) begin()
  expect(letters(begun)).toBe('rfrfffrr')
})

it('sets what is paused aside, and lines it up again after the pause', () => {
  let paused = 'p'
  const pauses = { isAny: true, covers: (type: string) => type.startsWith(paused) }
  const queue = newQueue({ pauses })
  const [held, behind] = [grouped('p', { key: 'k', createdAt: 2 }), grouped('q', { key: 'k', createdAt: 3 })]
  const [alone, free] = [grouped('p'), grouped('q')]
  for (const one of [held, behind, alone, free]) queue.push(one)
  expect(queue.shift()).toBe(free)
  expect(queue.shift()).toBeUndefined()
  const older = grouped('q', { key: 'k', createdAt: 1 })
  queue.push(older)
  expect(queue.shift()).toBe(older)
  queue.remove(older)
  expect(queue.shift()).toBeUndefined()
  queue.remove(alone)
  paused = 'nothing'
  queue.unpark()
  expect(queue.shift()).toBe(held)
  expect(queue.shift()).toBeUndefined()
  queue.remove(held)
  expect(queue.shift()).toBe(behind)
})

it('lets the next event of a key go on once the paused one before it is gone', () => {
  const queue = newQueue({ pauses: { isAny: true, covers: (type: string) => type.startsWith('p') } })
  const [held, behind] = [grouped('p', { key: 'k', createdAt: 1 }), grouped('q', { key: 'k', createdAt: 2 })]
  queue.push(held)
  queue.push(behind)
  expect(queue.shift()).toBeUndefined()
  queue.remove(held)
  expect(queue.shift()).toBe(behind)
})

it('lets no older event of a key pass one that has begun and waits, paused or for a slot', () => {
  for (const isPaused of [true, false]) {
    let covers = (_type: string): boolean => false
    const pauses = { isAny: true, covers: (type: string) => covers(type) }
    const queue = newQueue({ pauses })
    const typed = (type: string, createdAt: number) => {
      const one = entry('k', createdAt) as Entry & { delivery: { type: string }; attempts: number }
      Object.assign(one.delivery, { type })
      return one
    }
    const begun = typed('p', 2)
    queue.push(begun)
    expect(queue.shift()).toBe(begun)
    begun.attempts = 1
    covers = type => isPaused && type === 'p'
    queue.push(begun)
    if (isPaused) expect(queue.shift()).toBeUndefined()
    const older = typed('q', 1)
    queue.push(older)
    if (isPaused) expect(queue.shift()).toBeUndefined()
    covers = () => false
    queue.unpark()
    expect(queue.shift()).toBe(begun)
    queue.remove(begun)
    expect(queue.shift()).toBe(older)
  }
})
