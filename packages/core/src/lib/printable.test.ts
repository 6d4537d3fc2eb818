import { expect, it } from 'vitest'
import { printable } from './printable.ts'

it.each([
  ['clears the screen', '\u001b[2J'],
  ['links elsewhere', '\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007'],
  ['begins a sequence with a C1 control', '\u009b31m\u009d0;title\u009c'],
  ['breaks the line', 'a\r\nb\u2028c\u2029d\u0085e\u000bf\u000cg'],
  ['turns the direction', '\u202egpj.exe\u2066x\u2069\u200f\u061c'],
  ['hides', 'pay\u200bpal\u00ad\u2060\u180e\ufeff\u206a\ufff9'],
  ['rings and deletes', '\u0007\u0008\u007f\u0000'],
])('escapes text that %s', (_what, text) => {
  const shown = printable(text)
  expect(shown).toMatch(/^[\x20-\x7e]*$/)
  expect(JSON.parse(`"${shown.replaceAll('"', '\\"')}"`)).toBe(text)
})

it('keeps every script, combined characters and emoji', () => {
  for (const text of ['Zoë', '日本語', 'שלום', 'ภาษาไทย', 'नमस्ते', '👩‍👩‍👧', '🏳️‍🌈', 'a\u0301', '"\\'])
    expect(printable(text)).toBe(text)
})
