import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventBody, watch } from '../../../../test/support/receiving.ts'
import { type ReconcileOptions, reconcile } from './reconcile.ts'

const NOW = Date.parse('2026-01-02T00:00:00Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
})
afterEach(() => {
  vi.useRealTimers()
})

/** An event created this many minutes before the start of the test. */
const event = (id: string, minutesAgo: number): object =>
  JSON.parse(eventBody({ id, created_at: new Date(NOW - minutesAgo * MINUTE_MS).toISOString() }))

function receiving(options: Partial<ReconcileOptions> & { readonly events?: object[] } = {}) {
  const { events = [], ...given } = options
  const watched = watch()
  const handled: string[] = []
  watched.receiver.on('*', ({ id }) => void handled.push(id))
  const asked: string[] = []
  const list = vi.fn(({ since }: { readonly since: Date }): Iterable<object> => {
    asked.push(since.toISOString())
    return events
  })
  const repairs = reconcile(watched.receiver, { list, ...given })
  const told = () => watched.logger.lines.map(({ level, fields }) => `${level} ${fields['code']}`)
  return { ...watched, handled, asked, events, repairs, told }
}

it('ingests what no delivery has brought, once, and says that a webhook was lost', async () => {
  const { send, handled, repairs, logger, seen, events } = receiving({
    events: [event('evt_lost', 300), event('evt_known', 200), event('evt_lost', 300), event('evt_young', 30)],
  })
  await send({ id: 'evt_known' })
  expect(await repairs.run()).toEqual({ listed: 3, missed: 1, invalid: 0 })
  await vi.waitFor(() => expect(handled.toSorted()).toEqual(['evt_known', 'evt_lost']))
  expect(logger.lines).toMatchObject([
    { level: 'warn', fields: { code: 'events_missed', missed: 1, listed: 3 } },
  ])
  expect(seen.filter(({ kind }) => kind === 'notice')).toMatchObject([{ code: 'events_missed' }])
  expect(await repairs.run()).toEqual({ listed: 3, missed: 0, invalid: 0 })
  expect(logger.lines).toHaveLength(1)
  expect(events).toHaveLength(4)
  await repairs.close()
})

it('compares at the start and on its schedule, each time from the last one on, with an overlap', async () => {
  const { asked, repairs } = receiving({ since: new Date(NOW - 10 * HOUR_MS) })
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toEqual(['2026-01-01T14:00:00.000Z'])
  await vi.advanceTimersByTimeAsync(15 * MINUTE_MS)
  expect(asked[1]).toBe('2026-01-01T22:00:00.000Z')
  await vi.advanceTimersByTimeAsync(15 * MINUTE_MS)
  expect(asked[2]).toBe('2026-01-01T22:15:00.000Z')
  await repairs.close()
  await vi.advanceTimersByTimeAsync(HOUR_MS)
  expect(asked).toHaveLength(3)
  expect(vi.getTimerCount()).toBe(0)
})

it('keeps its place in the cursor of the application, and leaves a comparison to another process', async () => {
  let saved: Date | undefined = new Date(NOW - 5 * HOUR_MS)
  let isMine = true
  const save = (to: Date): void => {
    saved = to
  }
  const cursor = { load: () => saved, save, claim: async () => isMine }
  const { asked, repairs } = receiving({ cursor })
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toEqual(['2026-01-01T18:00:00.000Z'])
  expect(saved).toEqual(new Date(NOW - HOUR_MS))
  isMine = false
  await vi.advanceTimersByTimeAsync(HOUR_MS)
  expect(asked).toHaveLength(1)
  await repairs.close()
})

it('keeps its place and tries again later if the list fails in the middle, or the receiver cannot accept', async () => {
  let fails = true
  const { handled, repairs, told } = receiving({
    list: async function* () {
      yield event('evt_a', 300)
      if (fails) throw new Error('page 2: 502')
      yield event('evt_b', 290)
    },
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(told()).toEqual(['warn events_missed', 'warn reconcile_failed'])
  await vi.advanceTimersByTimeAsync(15 * MINUTE_MS)
  expect(told()).toHaveLength(3)
  fails = false
  await vi.advanceTimersByTimeAsync(29 * MINUTE_MS)
  expect(handled).toEqual(['evt_a'])
  await vi.advanceTimersByTimeAsync(MINUTE_MS + 10)
  await vi.waitFor(() => expect(handled).toEqual(['evt_a', 'evt_b']))
  expect(told().at(-1)).toBe('warn events_missed')
  await repairs.close()
})

it('tells all that it has repaired, also before a list fails, hangs, is closed, or the receiver refuses', async () => {
  for (const end of ['fails', 'hangs', 'closes', 'refuses'] as const) {
    let isInterrupted = true
    const { repairs, logger, receiver } = receiving({
      list: async function* () {
        for (let i = 0; i < 20; i++) {
          if (i === 15 && isInterrupted) {
            if (end === 'fails') throw new Error('page 2: 502')
            if (end === 'closes') void repairs.close()
            if (end === 'refuses') vi.spyOn(receiver, 'ingest').mockResolvedValueOnce(FULL)
            if (end === 'hangs') await new Promise(() => {})
          }
          yield event(`evt_${i}`, 300)
        }
      },
    })
    const missed = () =>
      logger.lines.reduce(
        (sum, { fields }) => sum + (fields['code'] === 'events_missed' ? Number(fields['missed']) : 0),
        0,
      )
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS)
    expect([end, missed()]).toEqual([end, 15])
    isInterrupted = false
    await vi.advanceTimersByTimeAsync(30 * MINUTE_MS)
    expect([end, missed()]).toEqual([end, end === 'closes' ? 15 : 20])
    await repairs.close()
  }
})

it('tells what it repairs every minute of a long comparison, and an hour of it', async () => {
  const { repairs, logger, told } = receiving({
    list: async function* () {
      for (let i = 0; i < 70; i++) {
        await new Promise(resolve => setTimeout(resolve, MINUTE_MS))
        yield event(`evt_${i}`, 300)
      }
    },
  })
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
  expect(told().filter(line => line === 'warn events_missed').length).toBeGreaterThan(8)
  await vi.advanceTimersByTimeAsync(65 * MINUTE_MS)
  expect(told().filter(line => line === 'warn reconcile_slow')).toHaveLength(1)
  const missed = logger.lines.filter(({ fields }) => fields['code'] === 'events_missed')
  expect(missed.reduce((sum, { fields }) => sum + Number(fields['missed']), 0)).toBe(70)
  await repairs.close()
})

it.each<[string, Partial<ReconcileOptions>]>([
  ['list call', { list: () => new Promise(() => {}) }],
  [
    'page of the list',
    { list: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) as never },
  ],
  ['cursor that is read', { cursor: { load: () => new Promise(() => {}), save() {} } }],
  ['cursor that is written', { cursor: { load: () => undefined, save: () => new Promise(() => {}) } }],
  ['claim', { cursor: { load: () => undefined, save() {}, claim: () => new Promise(() => {}) } }],
])('tells a %s that never answers, aborts it, and goes on with the next comparison', async (_, options) => {
  const { repairs, told } = receiving(options)
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  expect(told()).toEqual(['warn reconcile_failed'])
  await vi.advanceTimersByTimeAsync(40 * MINUTE_MS)
  expect(told().length).toBeGreaterThan(1)
  await repairs.close()
  expect(vi.getTimerCount()).toBe(0)
})

it('hears of an aborted list by its signal', async () => {
  let signal: AbortSignal | undefined
  const { repairs } = receiving({
    list: query => {
      signal = query.signal
      return new Promise(() => {})
    },
  })
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  expect(signal?.aborted).toBe(true)
  await repairs.close()
})

it('forgets a cursor that a clock saved which was ahead, says so, and compares on', async () => {
  let saved: Date | undefined
  const cursor = {
    load: () => saved,
    save: (to: Date) => {
      saved = to
    },
  }
  vi.setSystemTime(NOW + 24 * HOUR_MS)
  const { repairs, asked, told, handled, events } = receiving({ cursor })
  await vi.advanceTimersByTimeAsync(0)
  vi.setSystemTime(NOW)
  events.push(event('evt_lost', 70))
  await vi.advanceTimersByTimeAsync(15 * MINUTE_MS)
  expect(asked).toHaveLength(2)
  await vi.waitFor(() => expect(handled).toEqual(['evt_lost']))
  expect(told()).toContain('warn reconcile_clock')
  expect(saved?.getTime()).toBeLessThan(NOW)
  await repairs.close()
})

it('goes on after an event that the receiver refuses for good, and counts it', async () => {
  const { handled, repairs, told } = receiving({ events: [{ created_at: 'no id' }, event('evt_a', 300)] })
  expect(await repairs.run()).toEqual({ listed: 2, missed: 1, invalid: 1 })
  await vi.advanceTimersByTimeAsync(0)
  await vi.waitFor(() => expect(handled).toEqual(['evt_a']))
  expect(told().slice(0, 2)).toEqual(['warn events_missed', 'warn listed_events_invalid'])
  await repairs.close()
})

it.each([
  ['undefined', undefined],
  ['an empty text', ''],
  ['a number', Number.NaN],
  ['a function', () => []],
  ['a page of a list', { data: [], next: undefined }],
])('does not take %s for a list without events', async (_, listed) => {
  const save = vi.fn()
  const { repairs } = receiving({ list: () => listed as never, cursor: { load: () => undefined, save } })
  await expect(repairs.run()).rejects.toThrow("The option 'list' must return an array or an async iterable")
  expect(save).not.toHaveBeenCalled()
  await repairs.close()
})

it('asks for no list since a date that is none', async () => {
  const cursor = { load: () => new Date('yesterday'), save: vi.fn() }
  const { repairs, asked } = receiving({ cursor })
  await expect(repairs.run()).rejects.toThrow("The option 'cursor' loaded no valid Date")
  expect([asked, cursor.save.mock.calls]).toEqual([[], []])
  await repairs.close()
})

it('ends with its receiver, without a word', async () => {
  const { receiver, repairs, told } = receiving({ events: [event('evt_a', 300)] })
  await receiver.close()
  await vi.advanceTimersByTimeAsync(HOUR_MS)
  expect(told().filter(line => line.includes('reconcile'))).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  await repairs.close()
})

it('aborts the list that is under way when it is closed', async () => {
  const aborted = vi.fn()
  const { repairs, told } = receiving({
    list: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted()
          reject(signal.reason)
        })
      }),
  })
  await vi.advanceTimersByTimeAsync(0)
  await repairs.close()
  expect(aborted).toHaveBeenCalledTimes(1)
  expect(told()).toEqual([])
})

const FULL = { outcome: 'refused', status: 503, code: 'capacity_exceeded' } as never

it.each([
  [{}, /Option 'list'/],
  [{ list: () => [], every: 900 }, /Option 'every'/],
  [{ list: () => [], since: 'yesterday' }, /Option 'since'/],
  [{ list: () => [], cursor: { load() {} } }, /Option 'cursor'.*'save'/],
  [{ list: () => [], interval: '1h' }, /'interval'/],
])('refuses %j', (options, message) => {
  const { receiver } = watch()
  expect(() => reconcile(receiver, options as never)).toThrow(message)
})
