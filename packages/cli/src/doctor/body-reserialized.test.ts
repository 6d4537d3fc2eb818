import { expect, test } from 'vitest'
import { keysOf, parseTree } from '../delivery/json-tree.ts'
import { bodyReserialized } from './body-reserialized.ts'
import type { Facts } from './evidence.ts'

const nested = (depth: number, inside: string): string =>
  `${'{"a":'.repeat(depth)}${inside}${'}'.repeat(depth)}`
const list = (count: number, of: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => of(at)).join(',')

test.each([
  ['deep and wide', nested(900, `[${list(5_000, () => '0')}]`)],
  ['17 levels deep', nested(17, `[${list(100_000, () => '0')}]`)],
  ['of many lines', `{"a":[${list(100_000, at => String(at % 10))}]}`],
  ['of many keys', `{${list(20_000, at => `"k${at}":1.0`)}}`],
  ['of many escapes', `{"a":"${'é/<'.repeat(100_000)}"}`],
  ['beyond the limit of a receiver', `{"a":"${'x'.repeat(2_000_000)}"}`],
])("a stranger's body that is %s is rewritten a bounded number of times", (_, text) => {
  const guesses = bodyReserialized({ text } as Facts)
  const bytes = guesses.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
  expect(bytes).toBeLessThan(30_000_000)
})

test('the keys of a deep body are listed once each', () => {
  expect(keysOf(parseTree(nested(900, `{${list(60_000, at => `"k${at}":1`)}}`)))).toHaveLength(60_900)
})
