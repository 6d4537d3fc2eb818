import { expect, it } from 'vitest'
import { createHeldRows, type Held } from './held-rows.ts'

const aRow = (token: string) => ({ row: { token }, ended: false, place: -1 }) as Held
const tokens = (rows: readonly Held[]) => rows.map(({ row }) => row.token).toSorted()

it('holds each row from when it is added until it is removed, in any order', () => {
  const held = createHeldRows()
  const [a, b, c] = ['a', 'b', 'c'].map(aRow) as [Held, Held, Held]
  for (const one of [a, b, c]) held.add(one)
  expect(held.remove(a)).toBe(true)
  expect(held.remove(a)).toBe(false)
  expect([a, b, c].map(held.has)).toEqual([false, true, true])
  expect(held.remove(c)).toBe(true)
  expect(tokens(held.all())).toEqual(['b'])
  expect(held.remove(b)).toBe(true)
  expect(held.size).toBe(0)
})

it('holds none once it is cleared', () => {
  const held = createHeldRows()
  const [a, b] = ['a', 'b'].map(aRow) as [Held, Held]
  held.add(a)
  held.add(b)
  held.clear()
  expect([a, b].map(held.has)).toEqual([false, false])
  expect(held.remove(b)).toBe(false)
  held.add(b)
  expect(tokens(held.all())).toEqual(['b'])
})

it('answers with a list that does not change while rows go', () => {
  const held = createHeldRows()
  for (const token of ['a', 'b', 'c']) held.add(aRow(token))
  const seen: string[] = []
  for (const one of held.all()) {
    held.remove(one)
    seen.push(one.row.token)
  }
  expect(seen).toEqual(['a', 'b', 'c'])
})
