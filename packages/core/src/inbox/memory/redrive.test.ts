import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { of, settle } from '../../../../../test/support/memory-inbox.ts'
import { signedRequest, watch } from '../../../../../test/support/receiving.ts'
import { NonRetryableError } from '../../errors/errors.ts'
import { memoryInbox } from './memory-inbox.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('dead letters', () => {
  async function withDead() {
    const watched = watch({ retry: { attempts: 1 } })
    const handler = vi.fn<(id: string) => void>(() => {
      throw new Error('no')
    })
    watched.receiver.on('*', event => handler(event.id))
    for (const id of ['a', 'b', 'c']) await watched.send({ id })
    await settle()
    return { ...watched, handler, letters: watched.receiver.deadLetters }
  }

  it('are listed, the newest first, and found by the id of the event', async () => {
    const { letters } = await withDead()
    expect((await letters.list()).map(letter => letter.id)).toEqual(['c', 'b', 'a'])
    expect((await letters.list({ limit: 2 })).map(letter => letter.id)).toEqual(['c', 'b'])
    expect(await letters.get('b')).toMatchObject({
      id: 'b',
      namespace: '',
      type: 'conversation.resolved',
      attempts: 1,
      reason: 'Error: no',
    })
    expect(new TextDecoder().decode((await letters.get('b'))?.body)).toContain('"id":"b"')
    expect(await letters.get('z')).toBeUndefined()
    expect(await letters.get('b', { namespace: 'other' })).toBeUndefined()
  })

  it('are kept if a handler throws something odd', async () => {
    const { receiver, send } = watch({ retry: { attempts: 1 } })
    receiver.on('*', () => {
      throw Object.create(null)
    })
    await send()
    await settle()
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 1 })
  })

  it('run again from the first attempt if redriven', async () => {
    const { letters, handler, seen, receiver } = await withDead()
    handler.mockImplementation(() => {})
    expect(await letters.redrive('b')).toBe(true)
    await settle()
    expect(handler.mock.lastCall).toEqual(['b'])
    expect(of(seen, 'completed')).toMatchObject([{ id: 'b', attempt: 1 }])
    expect(of(seen, 'redriven')).toEqual([
      { kind: 'redriven', id: 'b', type: 'conversation.resolved', namespace: '' },
    ])
    expect((await letters.list()).map(letter => letter.id)).toEqual(['c', 'a'])
    expect(await letters.redrive('b')).toBe(false)
    expect(await letters.redrive('a', { namespace: 'other' })).toBe(false)
    expect(of(seen, 'redriven')).toHaveLength(1)
    expect(await receiver.stats()).toMatchObject({ dead: 2 })
  })

  it('run again if the sender repeats them', async () => {
    const { letters, handler, send } = await withDead()
    handler.mockImplementation(() => {})
    expect(await send({ id: 'a' })).toMatchObject({ status: 202 })
    await settle()
    expect(handler.mock.lastCall).toEqual(['a'])
    expect(await letters.get('a')).toBeUndefined()
  })

  it('are gone once discarded', async () => {
    const { letters } = await withDead()
    expect(await letters.discard('a')).toBe(true)
    expect(await letters.discard('a')).toBe(false)
    expect(await letters.discard('b', { namespace: 'other' })).toBe(false)
    expect((await letters.list()).map(letter => letter.id)).toEqual(['c', 'b'])
  })

  it('do not use their original request if redriven', async () => {
    const { receiver } = watch({ retry: { attempts: 1 } })
    const handler = vi.fn<() => void>().mockImplementationOnce(() => {
      throw new Error('no')
    })
    receiver.on('*', handler)
    const waitUntil = vi.fn()
    await receiver.handle({ ...signedRequest(), waitUntil })
    await settle()
    waitUntil.mockImplementation(() => {
      throw new TypeError('the request is over')
    })
    expect(await receiver.deadLetters.redrive('evt_1')).toBe(true)
    await settle()
    expect(handler).toHaveBeenCalledTimes(2)
  })

  it('stay if there is no room to redrive them', async () => {
    const { receiver, send } = watch({ retry: { attempts: 1 }, capacity: 1 })
    receiver.on('*', event => {
      if (event.id === 'dead') throw new Error('no')
      return new Promise(() => {})
    })
    await send({ id: 'dead' })
    await settle()
    await send({ id: 'other' })
    expect(await receiver.deadLetters.redrive('dead')).toBe(false)
    expect(await receiver.deadLetters.get('dead')).toBeDefined()
  })

  it('are kept again if the redrive fails in a receiver that acknowledges after processing', async () => {
    const { receiver, send } = watch({ acknowledge: 'after-processing' })
    const handler = vi.fn(() => {
      throw new NonRetryableError('never')
    })
    receiver.on('*', handler)
    receiver.onDeadLetter(() => {})
    const reply = send()
    await settle()
    await reply
    handler.mockImplementation(() => {
      throw new Error('still')
    })
    const redriven = receiver.deadLetters.redrive('evt_1')
    await settle()
    expect(await redriven).toBe(true)
    expect(await receiver.deadLetters.list()).toMatchObject([{ reason: 'NonRetryableError: never' }])
    handler.mockImplementation(() => undefined as never)
    const again = receiver.deadLetters.redrive('evt_1')
    await settle()
    expect(await again).toBe(true)
    expect(await receiver.deadLetters.list()).toEqual([])
  })
})

describe('a dead letter with after-processing', () => {
  async function withDead() {
    const inbox = memoryInbox()
    const watched = watch({ inbox, acknowledge: 'after-processing', concurrency: 1 })
    const handler = vi.fn<() => unknown>(() => Promise.reject(new NonRetryableError('no')))
    watched.receiver.on('*', handler)
    watched.receiver.onDeadLetter(() => {})
    expect(await watched.send({ id: 'a' })).toMatchObject({ code: 'dead_lettered' })
    return { ...watched, inbox, handler, letters: watched.receiver.deadLetters }
  }

  it('stays if its redrive is given back before it has run', async () => {
    const { inbox, handler, letters, send } = await withDead()
    let finish = (): void => {}
    handler.mockImplementationOnce(() => new Promise<void>(resolve => (finish = resolve)))
    const slow = send({ id: 'b' })
    await settle()
    const redriven = letters.redrive('a')
    await settle()
    await inbox.handling?.pause()
    expect(await redriven).toBe(false)
    finish()
    await slow
    expect(await letters.get('a')).toMatchObject({ attempts: 1, reason: 'NonRetryableError: no' })
  })

  it('stays if it is delivered again and fails in a way that leaves it with its sender', async () => {
    const { handler, letters, send } = await withDead()
    handler.mockImplementationOnce(() => Promise.reject(new Error('busy')))
    expect(await send({ id: 'a' })).toMatchObject({ status: 500 })
    expect(await letters.get('a')).toMatchObject({ reason: 'NonRetryableError: no' })
    handler.mockImplementationOnce(() => {})
    expect(await letters.redrive('a')).toBe(true)
    expect(await letters.list()).toEqual([])
  })
})
