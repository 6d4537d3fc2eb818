import { expect, test } from 'vitest'
import { table } from './table.ts'

test('wide characters and colors keep the columns aligned', () => {
  expect(
    table([
      ['ID', 'TYPE'],
      ['注文', 'a'],
      ['🚀x', 'b'],
      ['\u001b[1mbold\u001b[22m', 'c'],
    ]),
  ).toEqual(['ID    TYPE', '注文  a', '🚀x   b', '\u001b[1mbold\u001b[22m  c'])
})

test('a cell whose visible width does not fit moves below', () => {
  expect(table([['注文注文', 'ab']], 11)).toEqual(['注文注文', '    ab'])
  expect(table([['注文注文', 'ab']], 12)).toEqual(['注文注文  ab'])
})
