import { expect, test } from 'vitest'
import type { DeadLetterStore } from './inbox.ts'
import { GroupCount, letterGroup, normalizeReason, readGroups } from './letter-group.ts'

const groupOf = (reason: string, id = 'evt_1', type = 'order.paid') => letterGroup({ id, type, reason })

test('letters of four unrelated errors of one class are four groups', () => {
  const messages = ['no such table', 'cache is cold', 'quota reached', 'socket closed']
  const groups = messages.flatMap(message =>
    Array.from({ length: 12 }, (_, i) => groupOf(`Error: ${message}`, `evt_${i}`)),
  )
  expect(new Set(groups).size).toBe(4)
})

test('another class or another event type is another group', () => {
  const groups = [
    groupOf('Error: no'),
    groupOf('TypeError: no'),
    groupOf('Error: no', 'evt_1', 'order.sent'),
    groupOf('no'),
  ]
  expect(new Set(groups).size).toBe(4)
})

test.each([
  [
    'numbers',
    ['timed out after 30 s', 'timed out after 1250.5 s', 'timed out after 1e6 s', 'timed out after -3 s'],
  ],
  ['status codes', ['got HTTP 503', 'got HTTP 429']],
  ['ids', ['no contact cnv_8fk2Lq', 'no contact cnv_kQzRtWpXyAbC', 'no contact 01J9ZC7QW6T5V4X3Y2M1N0P8RS']],
  [
    'UUIDs',
    ['job 3f2b8c1e-9a4d-4e6f-8b7a-0c1d2e3f4a5b is gone', 'job ABCDEFAB-CDEF-4BCD-ABCD-ABCDEFABCDEF is gone'],
  ],
  [
    'hexadecimal digits',
    ['bad hash deadbeef', 'bad hash 0xfeedface', 'bad hash 9e107d9d372bb6826bd81d3542a419d6'],
  ],
  ['quoted words', [`no field 'name'`, 'no field "address of the sender"', 'no field `x`', 'no field “id”']],
  ['URLs', ['GET https://a.example/x?y=1 failed', 'GET http://10.1.2.3:8080/other failed']],
  ['mail addresses', ['bounced: ann@example.com', 'bounced: bo.b+x@mail.example.org']],
  [
    'IP addresses',
    [
      'connect ECONNREFUSED 127.0.0.1:5432',
      'connect ECONNREFUSED ::1:5432',
      'connect ECONNREFUSED [fe80::ab:1]:80',
    ],
  ],
  ['times', ['expired at 2026-11-28T04:31:58.123Z', 'expired at 2025-01-02T23:59:00Z']],
  ['lists of different lengths', ['missing 1, 2, 3', 'missing 17', "missing 'a', 'b'"]],
  ['white space', ['first\n  second', 'first second']],
])('errors that differ only in %s are one group', (_, messages) => {
  const groups = messages.map(message => groupOf(`Error: ${message}`))
  expect(new Set(groups).size, messages.map(one => normalizeReason(one)).join('\n')).toBe(1)
})

test("an event's own id counts as an id, whatever it looks like", () => {
  expect(groupOf('Error: order-blue-sky is locked', 'order-blue-sky')).toBe(
    groupOf('Error: order-red-sea is locked', 'order-red-sea'),
  )
})

test.each([
  ["can't read the user's name", "can't read the user's mail"],
  ['getaddrinfo ENOTFOUND db.example', 'getaddrinfo ENOTFOUND cache.example'],
  ['conversation_id is missing', 'customer_name is missing'],
])('words that name the cause stay: %j is not %j', (one, other) => {
  expect(groupOf(`Error: ${one}`)).not.toBe(groupOf(`Error: ${other}`))
})

test('the class of an error stays, also with digits, and an id before a colon is not a class', () => {
  expect(normalizeReason('P2002: no')).toBe('P2002: no')
  expect(groupOf('evt_17: no')).toBe(groupOf('evt_18: no'))
})

test('a hostile message is read in a moment', () => {
  const parts = ['a', '1', "'", ':', '@', '.', '-', 'a:', 'f-', 'x_', 'a@', '"', ' ', '#,', '://']
  const startedAt = performance.now()
  for (const part of parts) normalizeReason(`Error: ${part.repeat(100_000)}`)
  expect(performance.now() - startedAt).toBeLessThan(2000)
})

test('a message that is not well-formed text, or empty, has a group', () => {
  expect(groupOf('')).toMatch(/^[\da-f]{14}$/)
  expect(groupOf('\uD800')).toMatch(/^[\da-f]{14}$/)
})

const letter = (id: string, failedAt: number, reason = 'Error: no') => ({
  ...{ key: id, namespace: '', id, type: 'order.paid', body: new Uint8Array(), receivedAt: 0 },
  ...{ failedAt, attempts: 1, reason, cursor: id },
})

test('groups are counted in any order of letters, the largest first, each with its newest letter', () => {
  const count = new GroupCount()
  for (const one of [letter('b', 5), letter('c', 9), letter('a', 1), letter('d', 7, 'Error: other')])
    count.add(one)
  expect(count.list()).toMatchObject([
    {
      count: 3,
      firstFailedAt: 1,
      lastFailedAt: 9,
      type: 'order.paid',
      sample: { id: 'c', reason: 'Error: no' },
    },
    { count: 1, firstFailedAt: 7, lastFailedAt: 7 },
  ])
  expect(count.list(1)).toHaveLength(1)
  expect(count.counted).toBe(4)
})

test('the letters of an inbox that cannot count groups are read, up to ten thousand', async () => {
  const letters = Array.from({ length: 12_000 }, (_, i) => letter(String(i), i))
  const store: Pick<DeadLetterStore, 'list'> = {
    list: ({ limit = 100, after = '-1' } = {}) => letters.slice(Number(after) + 1, Number(after) + 1 + limit),
  }
  expect(await readGroups(store)).toMatchObject({
    counted: 10_000,
    isPartial: true,
    groups: [{ count: 10_000 }],
  })
  letters.length = 3
  expect(await readGroups(store)).toEqual({ counted: 3, groups: [expect.objectContaining({ count: 3 })] })
})
