import { expect, test } from 'vitest'
import { readPause } from './queue-pause.ts'

test.each([
  ['no pause', null, null, { pause: undefined, isStale: false }],
  ['our own', '1', 'own 17', { pause: { since: 17, isOwn: true }, isStale: false }],
  ['one made elsewhere', '1', 'seen 17', { pause: { since: 17, isOwn: false }, isStale: false }],
  ['one not noticed before', '1', null, { pause: { since: 99, isOwn: false }, isStale: false }],
  ['one whose record was damaged', '1', '?', { pause: { since: 99, isOwn: false }, isStale: false }],
  ['one that ended elsewhere', null, 'own 17', { pause: undefined, isStale: true }],
])('%s is read', (_, flag, record, expected) => {
  expect(readPause(flag, record, 99)).toEqual(expected)
})
