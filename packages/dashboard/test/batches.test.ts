import { type Inbox, memoryInbox } from '@ackhook/core'
import { describe, expect, it, vi } from 'vitest'
import { type DashboardOptions, dashboard } from '../src/index.ts'
import { changeLetters } from '../src/letters/letter-filter.ts'
import { describeRedrive } from '../src/protocol/outcome.ts'
import type { Batch, BatchList, EventPage, Problem } from '../src/protocol/protocol.ts'
import { dead, type Letters, withLetters } from './with-letters.ts'

const ids = (count: number) => Array.from({ length: count }, (_, n) => `evt_${n}`)

function pagesOf(letters: Letters, options: Partial<DashboardOptions> = {}) {
  const pages = dashboard({ receiver: letters.receiver, authorize: () => 'admin', ...options })
  const call = async <T>(path: string, body?: unknown): Promise<T> => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
      body: JSON.stringify(body),
    }
    const request = new Request(`http://app.test/ops/${path}`, body === undefined ? {} : init)
    return (await (await pages.fetch(request, undefined)).json()) as T
  }
  /** The only batch, once `isReached` holds. */
  const batch = (isReached: (batch: Batch) => boolean) =>
    vi.waitFor(async () => {
      const [found] = (await call<BatchList>('api/batches')).batches
      expect(found && isReached(found), JSON.stringify(found)).toBe(true)
      return found as Batch
    }, 20_000)
  return { call, batch }
}

const wordsOf = ({ changed, fates, state }: Batch) =>
  fates && describeRedrive({ changed, outcome: fates, isOver: state === 'over' })

describe('a batch', () => {
  it('tells what became of redriven events, with their errors, to whoever asks', async () => {
    const letters = withLetters()
    await dead(letters, ids(80), 'order.paid')
    letters.failing = new Set(['evt_7', 'evt_8', 'evt_9'])
    const { call, batch } = pagesOf(letters, { authorize: () => ({ role: 'admin', name: 'anna' }) })
    const started = await call<Batch>('api/verbs/redrive', { all: true, total: 80 })
    expect(started).toMatchObject({ verb: 'redrive', by: 'anna', total: 80 })
    const over = await batch(({ state }) => state === 'over')
    expect(wordsOf(over)).toBe('80 redriven: 77 handled, 3 failed again: same error.')
    const { events } = await call<EventPage>(`api/letters?group=${over.fates?.errors[0]?.group}`)
    expect(events.map(({ id }) => id).sort()).toEqual(['evt_7', 'evt_8', 'evt_9'])
    expect(letters.seen.filter(one => one.kind === 'redriven' && one.by === 'anna')).toHaveLength(80)
  })

  it('never counts an event as handled that failed again, each with its own error', async () => {
    const letters = withLetters()
    await dead(letters, ids(12), 'order.paid')
    letters.failure = 'another one'
    const { call, batch } = pagesOf(letters, { redact: text => text.replace('another', '[hidden]') })
    await call('api/verbs/redrive', { type: 'order.*' })
    const over = await batch(({ state }) => state === 'over')
    expect(wordsOf(over)).toBe('12 redriven: 0 handled, 12 failed again: another error.')
    expect(over.fates?.errors).toMatchObject([{ count: 12, reason: 'NonRetryableError: [hidden] one' }])
  })

  it('tells those that failed and wait for another attempt from those that were not tried', async () => {
    const letters = withLetters(memoryInbox(), 1)
    await dead(letters, ids(3))
    let release = (): void => {}
    letters.hold = new Promise(resolve => {
      release = resolve
    })
    letters.isRetryable = true
    const { call, batch } = pagesOf(letters)
    await call('api/verbs/redrive', { all: true })
    expect(wordsOf(await batch(({ fates }) => fates?.waiting === 3))).toBe(
      '3 redriven: 0 handled, 3 waiting …',
    )
    release()
    const words = wordsOf(await batch(({ fates }) => fates?.retrying === 3))
    expect(words).toMatch(/^3 redriven: 0 handled, 3 failed and wait to be tried again/)
  })

  it('discards the letters chosen, and counts those that are gone', async () => {
    const letters = withLetters()
    await dead(letters, ids(3))
    const { call } = pagesOf(letters)
    const { events } = await call<EventPage>('api/letters')
    const keys = [...events.slice(0, 2).map(({ key }) => key), 'unknown']
    expect(await call<Batch>('api/verbs/discard', { keys })).toMatchObject({
      ...{ state: 'over', changed: 2, missed: 1 },
    })
    expect((await letters.receiver.stats()).dead).toBe(1)
  })

  it('waits while the inbox is down, and changes each letter once', async () => {
    const memory = memoryInbox()
    const letters = withLetters(memory)
    await dead(letters, ids(150))
    letters.broken = false
    let calls = 0
    const redriveMany = async (keys: readonly string[]) => {
      if (++calls === 2) {
        // This call is made, but its reply is lost.
        await changeLetters(memory.deadLetters, 'redrive', keys.slice(0, 20))
        throw new Error('the connection is gone')
      }
      return changeLetters(memory.deadLetters, 'redrive', keys)
    }
    const inbox: Inbox = { ...memory, deadLetters: { ...memory.deadLetters, redriveMany } }
    const { call, batch } = pagesOf(letters, { receiver: undefined, inbox })
    await call('api/verbs/redrive', { all: true })
    expect((await batch(({ error }) => error !== undefined)).error).toContain('the connection is gone')
    const over = await batch(({ state }) => state === 'over')
    expect([over.changed, over.missed, over.error]).toEqual([150, 0, undefined])
    expect(wordsOf(over)).toBe('150 redriven: 150 handled.')
  })

  it('is stopped between two steps, and what is left can be counted and started again', async () => {
    const memory = memoryInbox()
    const letters = withLetters(memory)
    await dead(letters, ids(250))
    let goOn = (): void => {}
    const held = new Promise<void>(resolve => {
      goOn = resolve
    })
    let calls = 0
    const redriveMany = async (keys: readonly string[]) => {
      if (++calls === 2) await held
      return changeLetters(memory.deadLetters, 'redrive', keys)
    }
    const inbox: Inbox = { ...memory, deadLetters: { ...memory.deadLetters, redriveMany } }
    const { call, batch } = pagesOf(letters, { receiver: undefined, inbox })
    const matching = { failedBy: Date.now() }
    const { id } = await call<Batch>('api/verbs/redrive', { all: true, ...matching })
    expect(await call<Batch>(`api/batches/${id}/stop`, {})).toMatchObject({ isStopped: true, changed: 100 })
    goOn()
    expect((await batch(({ state }) => state === 'over')).changed).toBe(200)
    await vi.waitFor(async () => expect((await letters.receiver.stats()).dead).toBe(250))
    // Those that failed again are not among them.
    await vi.waitFor(async () =>
      expect(await call('api/verbs/redrive', { all: true, ...matching, dryRun: true })).toMatchObject({
        data: { matched: 50 },
      }),
    )
    expect((await call<Problem>('api/batches/none/stop', {})).error).toBe('not_found')
  })

  it('is refused without the admin role, and with a filter that is wrong', async () => {
    const letters = withLetters()
    const all = { all: true }
    const reader = pagesOf(letters, { authorize: () => 'read' })
    expect((await reader.call<Problem>('api/verbs/discard', all)).error).toBe('read_only')
    const { call } = pagesOf(letters)
    for (const [body, message] of [
      [{ type: 'a*' }, 'is not a pattern'],
      [{ typ: 'a' }, 'typ is no argument here'],
      [{ keys: Array(5001).fill('x') }, 'at most 5000'],
    ] as const)
      expect((await call<Problem>('api/verbs/redrive', body)).message).toContain(message)
    expect((await call<Problem>('api/verbs/mend', {})).error).toBe('not_found')
    expect((await call<BatchList>('api/batches')).batches).toEqual([])
  })
})
