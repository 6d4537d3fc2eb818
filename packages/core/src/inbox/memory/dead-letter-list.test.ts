import { afterEach, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../../test/support/receiving.ts'
import { describeError, NonRetryableError } from '../../errors/errors.ts'
import type { Observation } from '../../observe/observation.ts'
import type { Delivery } from '../delivery.ts'
import { DeadLetterList } from './dead-letter-list.ts'

const delivery = (key: string) =>
  ({ key, namespace: 'n', id: `id-${key}`, type: 'a.b', body: new Uint8Array(1), receivedAt: 1 }) as Delivery
/** Where a list reports what it drops. */
function reporting() {
  const logger = recordingLogger()
  const seen: Observation[] = []
  return { logger, seen, observe: (one: Observation) => void seen.push(one) }
}
const nowhere = reporting()
const about = { attempts: 3, error: new Error('why'), failedAt: 9 }

it('keeps a letter with its delivery', () => {
  const list = new DeadLetterList()
  const one = delivery('k')
  list.put(one, about, nowhere)
  expect(list.get('k')).toEqual({
    key: 'k',
    namespace: 'n',
    id: 'id-k',
    type: 'a.b',
    body: one.body,
    receivedAt: 1,
    failedAt: 9,
    attempts: 3,
    reason: 'Error: why',
    group: expect.stringMatching(/^[\da-f]{14}$/),
    cursor: '0',
  })
  expect(list.deliveryOf('k')).toBe(one)
  expect(list.get('other')).toBeUndefined()
  expect(list.deliveryOf('other')).toBeUndefined()
  expect([list.size, list.remove('k'), list.remove('k'), list.size]).toEqual([1, true, false, 0])
})

it('lists the newest first, and treats a repeated letter as new', () => {
  const list = new DeadLetterList()
  for (const key of ['a', 'b', 'c', 'a']) list.put(delivery(key), about, nowhere)
  expect(list.list().map(letter => letter.key)).toEqual(['a', 'c', 'b'])
  expect(list.list({ limit: 2 }).map(letter => letter.key)).toEqual(['a', 'c'])
  expect(list.list({ order: 'oldest' }).map(letter => letter.key)).toEqual(['b', 'c', 'a'])
})

it.each(['newest', 'oldest'] as const)(
  'pages through letters while others come and go, the %s first',
  order => {
    const list = new DeadLetterList()
    for (const key of ['a', 'b', 'c', 'd', 'e']) list.put(delivery(key), about, nowhere)
    const [, second] = list.list({ limit: 2, order })
    list.remove(second?.key ?? '')
    list.put(delivery('f'), about, nowhere)
    const rest = list.list({ order, after: second?.cursor ?? '' }).map(letter => letter.key)
    expect(rest).toEqual(order === 'newest' ? ['c', 'b', 'a'] : ['c', 'd', 'e', 'f'])
  },
)

it.each(['', 'x', '-1', '1e3'])('refuses an invalid cursor: %j', after => {
  expect(() => new DeadLetterList().list({ after })).toThrow("Option 'after'")
})

it('keeps the newest thousand, and tells of five thousand in two lines', () => {
  vi.useFakeTimers()
  const list = new DeadLetterList()
  const { logger, seen, observe } = reporting()
  for (let i = 0; i < 5000; i++) list.put(delivery(`k${i}`), about, { logger, observe })
  expect([list.size, list.bytes]).toEqual([1000, 1000])
  expect(list.get('k3999')).toBeUndefined()
  expect(list.get('k4000')).toBeDefined()
  vi.advanceTimersByTime(60_000)
  const why = '1000 newer ones are kept. Save dead letters in onDeadLetter, or use a durable inbox.'
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      fields: { code: 'dead_letter_dropped', event: 'id-k0', type: 'a.b', namespace: 'n' },
      message: `The dead letter of event id-k0 (a.b) was dropped: ${why}`,
    },
    {
      level: 'warn',
      fields: { code: 'dead_letter_dropped', event: 'id-k3999', type: 'a.b', namespace: 'n' },
      message: `The dead letter of event id-k3999 (a.b) was dropped (and 3998 more since the last report): ${why}`,
    },
  ])
  expect(seen).toHaveLength(4000)
  expect(new Set(seen.map(one => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify({ kind: 'dropped', cause: 'capacity', dead: 1, waiting: 0 })]),
  )
})

afterEach(() => {
  vi.useRealTimers()
})

it('drops the oldest until the rest is small enough, except that of a key', () => {
  const list = new DeadLetterList()
  const dropping = reporting()
  for (const key of ['a', 'b', 'c', 'd']) list.put(delivery(key), about, dropping)
  list.drop(2, 'why', dropping, 'a')
  expect(list.list({ order: 'oldest' }).map(({ key }) => key)).toEqual(['a', 'c', 'd'])
  expect(dropping.logger.lines.map(({ message }) => message)).toEqual([
    'The dead letter of event id-b (a.b) was dropped: why. Save dead letters in onDeadLetter, or use a durable inbox.',
  ])
  for (const key of ['a', 'c', 'd', 'd']) list.remove(key)
  expect(list.bytes).toBe(0)
})

it('describes any thrown value', () => {
  expect(describeError(new NonRetryableError('no'))).toBe('NonRetryableError: no')
  expect(describeError('text')).toBe('text')
  expect(describeError(undefined)).toBe('undefined')
})

it.each([
  ['without a prototype', Object.create(null)],
  [
    'whose message throws',
    Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('trap')
      },
    }),
  ],
  ['whose message is a symbol', Object.assign(new Error(), { message: Symbol('s') })],
])('describes a value that cannot be converted to text: something %s', (_, thrown) => {
  expect(describeError(thrown)).toBe('an unreadable error')
})

it('ends a page before its bodies exceed 4 MiB, and lists the rest on the next ones', () => {
  const list = new DeadLetterList()
  for (let i = 0; i < 5; i++) {
    list.put({ ...delivery(`${i}`), id: `evt_${i}`, body: new Uint8Array(2_000_000) }, about, nowhere)
  }
  const pages: string[][] = []
  let after: string | undefined
  for (;;) {
    const page = list.list({ after, order: 'oldest' })
    if (page.length === 0) break
    pages.push(page.map(letter => letter.id))
    after = page.at(-1)?.cursor
  }
  expect(pages).toEqual([['evt_0', 'evt_1'], ['evt_2', 'evt_3'], ['evt_4']])
})
