import { expect, it } from 'vitest'
import { TURNING, visible } from './text.ts'

it('escapes invisible characters, and no others', () => {
  expect(visible('a\0b')).toBe('a\\u0000b')
  expect(visible('evt_\u202e123\u2066')).toBe('evt_\\u202e123\\u2066')
  expect(visible('été 日本 😀 a_b')).toBe('été 日本 😀 a_b')
})

it('can escape only characters that change the text direction, and keep line breaks and joiners', () => {
  expect(visible('a\n\u202eb👨\u200d👩', TURNING)).toBe('a\n\\u202eb👨\u200d👩')
})
