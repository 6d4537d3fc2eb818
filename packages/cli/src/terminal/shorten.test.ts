import stringWidth from 'fast-string-width'
import { expect, test } from 'vitest'
import { shorten } from './shorten.ts'

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
