import { expect, test } from 'vitest'
import { table } from './table.ts'

test('wide characters and colours leave the columns aligned', () => {
  expect(
    table([
      ['ID', 'TYPE'],
      ['注文', 'a'],
      ['🚀x', 'b'],
      ['\u001b[1mbold\u001b[22m', 'c'],
    ]),
  ).toEqual(['ID    TYPE', '注文  a', '🚀x   b', '\u001b[1mbold\u001b[22m  c'])
})

test('a cell that does not fit stands below, by the width it is seen with', () => {
  expect(table([['注文注文', 'ab']], 11)).toEqual(['注文注文', '    ab'])
  expect(table([['注文注文', 'ab']], 12)).toEqual(['注文注文  ab'])
})
