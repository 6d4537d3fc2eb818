import { expect, it } from 'vitest'
import { type HeldRow, HeldRows } from './held-rows.ts'

const aRow = (token: string) => ({ row: { token }, hasEnded: false, place: -1 }) as HeldRow
const tokens = (rows: readonly HeldRow[]) => rows.map(({ row }) => row.token).toSorted()

it('holds each added row until it is removed, in any order', () => {
  const held = new HeldRows()
  const [a, b, c] = ['a', 'b', 'c'].map(aRow) as [HeldRow, HeldRow, HeldRow]
  for (const one of [a, b, c]) held.add(one)
  expect(held.remove(a)).toBe(true)
  expect(held.remove(a)).toBe(false)
  expect([a, b, c].map(one => held.has(one))).toEqual([false, true, true])
  expect(held.remove(c)).toBe(true)
  expect(tokens(held.all())).toEqual(['b'])
  expect(held.remove(b)).toBe(true)
  expect(held.size).toBe(0)
})

it('returns a list that does not change while rows are removed', () => {
  const held = new HeldRows()
  for (const token of ['a', 'b', 'c']) held.add(aRow(token))
  const seen: string[] = []
  for (const one of held.all()) {
    held.remove(one)
    seen.push(one.row.token)
  }
  expect(seen).toEqual(['a', 'b', 'c'])
})
