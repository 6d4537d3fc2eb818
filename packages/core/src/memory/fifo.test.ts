import { expect, it } from 'vitest'
import { createFifo } from './fifo.ts'

it('gives back in the order of arrival', () => {
  const fifo = createFifo<number>()
  expect(fifo.shift()).toBeUndefined()
  fifo.push(1)
  fifo.push(2)
  expect(fifo.shift()).toBe(1)
  fifo.push(3)
  expect([fifo.shift(), fifo.shift(), fifo.shift()]).toEqual([2, 3, undefined])
  fifo.push(4)
  expect([fifo.shift(), fifo.shift()]).toEqual([4, undefined])
})

it('keeps the order over many turns of its memory', () => {
  const fifo = createFifo<number>()
  let pushed = 0
  let shifted = 0
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 300; i++) fifo.push(pushed++)
    for (let i = 0; i < 200; i++) expect(fifo.shift()).toBe(shifted++)
  }
  while (shifted < pushed) expect(fifo.shift()).toBe(shifted++)
  expect(fifo.shift()).toBeUndefined()
})
