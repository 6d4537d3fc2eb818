import { describe, expect, it } from 'vitest'
import { Refusal } from '../errors/refusal.ts'
import { weighBody } from './body-bounds.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const weigh = (text: string, bounds: { maxDepth?: number; maxValues?: number } = {}): number | Refusal =>
  weighBody(bytes(text), { maxDepth: 1_000_000, maxValues: 1_000_000, ...bounds })
const check = (text: string, bounds: { maxDepth?: number; maxValues?: number }): string | undefined => {
  const weight = weigh(text, bounds)
  return weight instanceof Refusal ? weight.code : undefined
}

/** Counts as JSON.parse makes them. */
function measure(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 }
  const inner = Object.values(value).map(measure)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
  }
}

const TEXTS = [
  '[]',
  '{}',
  '[[],[]]',
  '[ \n [ ] ,\t{ } ]',
  '{"a":[1,2,{"b":null}],"c":"x"}',
  '{"[{,":"}]\\"[[[[,,,,","\\\\":["\\\\\\"","{"]}',
  '[1,true,false,null,"text",-1.5e3,{"a":{"b":{"c":[]}}}]',
  '{"ü[":"\\u005b[{","é":[{},{},[[]]]}',
  '"only a text with [brackets] and, commas"',
  '7',
]

describe('the bounds of a body', () => {
  it.each(TEXTS)('count exactly what a parser makes: %s', text => {
    // Spaces make the body long enough to be counted.
    const long = text + ' '.repeat(200)
    const { depth, values } = measure(JSON.parse(text))
    expect(check(long, { maxDepth: Math.max(1, depth) })).toBeUndefined()
    if (depth > 1) expect(check(long, { maxDepth: depth - 1 })).toBe('body_too_complex')
    expect(check(long, { maxValues: values })).toBeUndefined()
    if (values > 1) expect(check(long, { maxValues: values - 1 })).toBe('body_too_complex')
  })

  it('hold for the shortest bodies that exceed them', () => {
    for (const most of [1, 2, 5, 50]) {
      expect(check('['.repeat(most + 1) + ']'.repeat(most + 1), { maxDepth: most })).toBe('body_too_complex')
      expect(check('['.repeat(most) + ']'.repeat(most), { maxDepth: most })).toBeUndefined()
      expect(check(`[${Array(most).fill('1')}]`, { maxValues: most })).toBe('body_too_complex')
      if (most > 1) expect(check(`[${Array(most - 1).fill('1')}]`, { maxValues: most })).toBeUndefined()
    }
  })

  it.each(['"', '[', '{"a', '"\\', '"\\"', ']]]]', '[1,', ''])('leave %j to the parser', text => {
    expect(check(text + ' '.repeat(9), { maxDepth: 3, maxValues: 4 })).toBeUndefined()
  })
})

describe('the weight of a body', () => {
  it('counts the bytes, and what each value and each object becomes', () => {
    // An object and an array, with four values that are neither.
    const text = '{"a":[1,"[{",null],"b":2}'
    expect(weigh(text, { maxDepth: 3 })).toBe(text.length + 6 * 24 + 2 * 40)
    const objects = `[${Array(10_000).fill('{}')}]`
    expect(weigh(objects, { maxDepth: 3 })).toBe(objects.length + 10_001 * 64)
  })

  it('is four times the length of a body that is too short to be counted', () => {
    expect(weigh('[1,2,3]')).toBe(28)
  })
})
