import stringWidth from 'fast-string-width'
import { expect, test } from 'vitest'
import { grid, shorten, table, timeText, wrap } from './text.ts'

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

test('prose breaks between words, and every line is indented', () => {
  expect(wrap('one two three four', '  ', 11)).toBe('  one two\n  three\n  four')
})

test('a word longer than the line stays whole', () => {
  expect(wrap('a very-long-word b', '  ', 8)).toBe('  a\n  very-long-word\n  b')
})

test('without a width, prose stays on one line', () => {
  expect(wrap('one two three four', '  ')).toBe('  one two three four')
})

test('text that fits stays unchanged', () => {
  expect(shorten('evt_123', 7)).toBe('evt_123')
  expect(shorten('注文', 4)).toBe('注文')
})

test('longer text keeps its beginning and its end', () => {
  expect(shorten('evt_01hzy3qk5w9v2x7m4n8p6r0t1s', 20)).toBe('evt_01hzy3qk5…6r0t1s')
})

test.each([
  ['wide characters', '注文番号一二三四五六七八九十'],
  ['emoji of several code points', '👩‍👩‍👧‍👦🏳️‍🌈🚀👩‍👩‍👧‍👦🏳️‍🌈🚀👩‍👩‍👧‍👦'],
])('%s count with their visible width, and none is cut', (_, text) => {
  for (let columns = 1; columns < stringWidth(text); columns++) {
    const short = shorten(text, columns)
    expect(stringWidth(short)).toBeLessThanOrEqual(columns)
    const [beginning = '', end = ''] = short.split('…')
    expect([text.startsWith(beginning), text.endsWith(end)]).toEqual([true, true])
  }
})

const HEADS = [
  { title: 'ID', least: 5, yields: 1 },
  { title: 'TYPE', least: 5, cutsEnd: true },
  { title: 'N', isNumber: true },
]

test('a grid aligns its columns below a header, and keeps numbers to the right', () => {
  expect(
    grid(
      HEADS,
      [
        ['注文', 'a', '7'],
        ['x', 'bb', '12'],
      ],
      { colors: false },
    ),
  ).toEqual(['ID    TYPE   N', '注文  a      7', 'x     bb    12'])
})

test.each([30, 22, 17])(
  'in %i columns, each row of a grid stays one line, and one column after the other shrinks',
  columns => {
    const lines = grid(HEADS, [['evt_0123456789abcdef', 'conversation.resolved', '7']], {
      colors: false,
      columns,
    })
    expect(lines).toHaveLength(2)
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    expect(lines[1]).toMatch(columns === 30 ? /^evt_0123456789abcdef {2}conv… +7$/ : /^evt.*…\w+ +conv… +7$/)
  },
)

test('a time is local in a terminal, with its date unless it is today, and ISO 8601 elsewhere', () => {
  const now = new Date(2026, 2, 1, 15)
  const at = (...parts: [number, number, number]) => new Date(...parts, 9, 5, 7).toISOString()
  expect(timeText(at(2026, 2, 1), { columns: 80 }, now)).toBe('09:05:07')
  expect(timeText(at(2026, 1, 28), { columns: 80 }, now)).toBe('02-28 09:05:07')
  expect(timeText(at(2025, 11, 31), { columns: 80 }, now)).toBe('2025-12-31 09:05:07')
  expect(timeText(at(2026, 2, 1), {}, now)).toBe(at(2026, 2, 1))
})
