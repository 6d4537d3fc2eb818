import { describe, expect, it } from 'vitest'
import { PatternSet, RANK } from './pattern-set.ts'

function setOf(patterns: readonly string[], onUnhandled = false) {
  return new PatternSet([{ patterns, onUnhandled }])
}

describe('how specifically patterns match a type', () => {
  it.each([
    [['a.b', 'a.*', '*'], 'a.b', RANK.exact],
    [['a.c', 'a.*', '*'], 'a.b', RANK.category],
    [['a.c', 'c.*', '*'], 'a.b', RANK.all],
    [['a.c', 'c.*'], 'a.b', RANK.none],
    [['a.*'], 'a.b.c', RANK.category],
    [['a.*'], 'a', RANK.none],
    [['plain'], 'plain', RANK.exact],
    [['a.*', '*'], 'a.*', RANK.category],
    [['*'], '*', RANK.all],
    [['a.b'], 'constructor', RANK.none],
    [[], 'a.b', RANK.none],
  ])('%j matches %s with rank %i', (patterns, type, rank) => {
    expect(setOf(patterns).rankOf(type)).toBe(rank)
    expect(setOf(patterns, true).rankOf(type)).toBe(Math.max(rank, RANK.onUnhandled))
  })

  it('combines the patterns of all processes', () => {
    const set = new PatternSet([
      { patterns: ['a.b'], onUnhandled: true },
      { patterns: ['c.*'], onUnhandled: false },
    ])
    expect(['a.b', 'c.d', 'e.f'].map(type => set.rankOf(type))).toEqual([
      RANK.exact,
      RANK.category,
      RANK.onUnhandled,
    ])
  })
})
