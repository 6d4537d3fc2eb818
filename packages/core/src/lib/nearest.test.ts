import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const NAMES = ['secret', 'secretUrl', 'tolerance', 'path', 'data', 'conversation.resolved', 'conversation.*']

test.each([
  ['secrets', 'secret'],
  ['Secret', 'secret'],
  ['tolerence', 'tolerance'],
  ['tolernace', 'tolerance'],
  ['pth', 'path'],
  ['dta', 'data'],
  ['conversation.resolvd', 'conversation.resolved'],
  ['conversation_resolved', 'conversation.resolved'],
  ['conversaton.*', 'conversation.*'],
])('%s is a misspelling of %s', (name, expected) => {
  expect(nearest(name, NAMES)).toBe(expected)
})

test.each(['call.started', 'x', '', 'message.delivered', 'conversation.assigned', 'x'.repeat(1_000_000)])(
  '%j resembles no name',
  name => {
    expect(nearest(name, NAMES)).toBeUndefined()
  },
)

test('a name is not a misspelling of itself', () => {
  expect(nearest('path', ['path'])).toBeUndefined()
})

test('the nearest of several wins, or the first of equals', () => {
  expect(nearest('secretUr', ['secret', 'secretUrl'])).toBe('secretUrl')
  expect(nearest('ab', ['aa', 'bb'])).toBe('aa')
})
