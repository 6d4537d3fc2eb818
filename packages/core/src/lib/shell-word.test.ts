import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shellWord } from './shell-word.ts'

const EVERY = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).join('')

test.each([
  EVERY,
  ...Array.from(EVERY),
  '',
  '=ls',
  '~root',
  "it's",
  "'",
  "''",
  '$(id)`id`"$HOME"',
  'a\n!b\n',
  '{a,b} [x] *',
  'jalapeño 😀 \u2028\u202e',
])('a shell reads %j back unchanged', text => {
  // The last character shows whether a trailing newline was dropped.
  const { stdout } = spawnSync('sh', ['-c', `printf %s. ${shellWord(text)}`], { encoding: 'utf8' })
  expect(stdout).toBe(`${text}.`)
})

test('a plain word stays as it is', () => {
  expect(shellWord('order.paid')).toBe('order.paid')
  expect(shellWord('--sqlite=/data/webhooks.db')).toBe('--sqlite=/data/webhooks.db')
})

test('no control character but a newline reaches a terminal raw', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  expect(shellWord(EVERY)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/)
})
