import { expect, test } from 'vitest'
import { wrap } from './wrap.ts'

test('prose breaks between words, and every line is indented', () => {
  expect(wrap('one two three four', '  ', 11)).toBe('  one two\n  three\n  four')
})

test('a word longer than the line stays whole', () => {
  expect(wrap('a very-long-word b', '  ', 8)).toBe('  a\n  very-long-word\n  b')
})

test('without a width, prose stays on one line', () => {
  expect(wrap('one two three four', '  ')).toBe('  one two three four')
})
