import { expect, it } from 'vitest'
import { lineDiff } from './line-diff.ts'

const shown = (before: string, after: string) =>
  lineDiff(before.split(' '), after.split(' '))
    .map(({ change, text }) => `${{ same: ' ', gone: '-', new: '+' }[change]}${text}`)
    .join('')

it('keeps common lines, and marks removed and added ones', () => {
  expect(shown('a b c', 'a b c')).toBe(' a b c')
  expect(shown('a b c', 'a x c d')).toBe(' a-b+x c+d')
  expect(shown('a', 'b')).toBe('-a+b')
  expect(shown('a b', 'b')).toBe('-a b')
})

it('compares long texts as a whole, not line by line', () => {
  const long = Array.from({ length: 501 }, (_, n) => String(n))
  expect(lineDiff(long, ['1']).at(-1)).toEqual({ change: 'new', text: '1' })
  expect(lineDiff(long, ['1'])).toHaveLength(502)
})
