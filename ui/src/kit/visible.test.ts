import { expect, it } from 'vitest'
import { TURNING, visible } from './visible.ts'

it('writes out what cannot be seen, and leaves the rest', () => {
  expect(visible('a\0b')).toBe('a\\u0000b')
  expect(visible('evt_\u202e123\u2066')).toBe('evt_\\u202e123\\u2066')
  expect(visible('été 日本 😀 a_b')).toBe('été 日本 😀 a_b')
})

it('writes out only what turns the direction of text, where a text has lines and joined characters', () => {
  expect(visible('a\n\u202eb👨\u200d👩', TURNING)).toBe('a\n\\u202eb👨\u200d👩')
})
