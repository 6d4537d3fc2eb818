import { expect, it } from 'vitest'
import { createFifo } from './fifo.ts'

it('gives back in the order of arrival', () => {
  const fifo = createFifo<number>()
  expect([fifo.size, fifo.peek(), fifo.shift()]).toEqual([0, undefined, undefined])
  fifo.push(1)
  fifo.push(2)
  expect([fifo.size, fifo.peek(), fifo.shift(), fifo.size]).toEqual([2, 1, 1, 1])
  fifo.push(3)
  expect([fifo.shift(), fifo.shift(), fifo.shift(), fifo.size]).toEqual([2, 3, undefined, 0])
  fifo.push(4)
  expect([fifo.size, fifo.shift()]).toEqual([1, 4])
})

it('keeps order and size over many turns of its memory', () => {
  const fifo = createFifo<number>()
  let pushed = 0
  let shifted = 0
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 300; i++) fifo.push(pushed++)
    for (let i = 0; i < 200; i++) expect(fifo.shift()).toBe(shifted++)
    expect(fifo.size).toBe(pushed - shifted)
    expect(fifo.peek()).toBe(shifted)
  }
  while (fifo.size > 0) expect(fifo.shift()).toBe(shifted++)
  expect(shifted).toBe(pushed)
})
