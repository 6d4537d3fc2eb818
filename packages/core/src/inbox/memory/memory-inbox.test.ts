import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, of, settle } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { ConfigurationError } from '../../errors/errors.ts'
import { memoryInbox } from './memory-inbox.ts'
import { memoryStore } from './memory-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the options', () => {
  it('include a lease of one second to one hour', () => {
    expect(() => memoryInbox({ lease: '1s' })).not.toThrow()
    expect(() => memoryInbox({ lease: '999ms' })).toThrow(expect.objectContaining({ option: 'lease' }))
    expect(() => memoryInbox({ lease: '61m' })).toThrow(ConfigurationError)
  })

  it('are refused if one is misspelled, or if a store is passed instead', () => {
    expect(() => memoryInbox({ leese: '1s' } as object)).toThrow("Option 'leese': is not an option")
    expect(() => memoryInbox(memoryStore() as object)).toThrow(
      "Option 'store': this is a store: write memoryInbox({ store })",
    )
    expect(() => memoryInbox(null as never)).toThrow("Option 'options': must be an object")
  })
})

describe('the inbox', () => {
  it('serves one receiver, and refuses a second with advice', async () => {
    const inbox = memoryInbox()
    const [first, second] = [watch({ inbox }), watch({ inbox })]
    await first.receiver.start()
    await expect(second.receiver.start()).rejects.toThrow(
      "Option 'inbox': it already serves another receiver, whose handlers would get these events.",
    )
    expect((await first.send()).status).toBe(202)
    expect(await second.send()).toMatchObject({ status: 503, code: 'inbox_unavailable' })
  })

  it('keeps working after the refused receiver is closed', async () => {
    const inbox = memoryInbox()
    const [first, second] = [watch({ inbox }), watch({ inbox })]
    await first.receiver.start()
    await expect(second.receiver.start()).rejects.toThrow('serves another receiver')
    expect(await second.receiver.close()).toEqual({ lost: 0 })
    expect((await first.send()).status).toBe(202)
    await expect(watch({ inbox }).receiver.start()).rejects.toThrow('serves another receiver')
  })

  it('refuses a second receiver of another copy of the library', async () => {
    const inbox = memoryInbox()
    const first = watch({ inbox })
    await first.receiver.start()
    const { receiver } = watch({ inbox: { ...inbox } })
    await expect(receiver.start()).rejects.toThrow('serves another receiver')
    expect((await first.send()).status).toBe(202)
  })

  it('may serve another receiver if its start failed for the first', async () => {
    const start = vi.fn(async () => {})
    start.mockRejectedValueOnce(new Error('no connection'))
    const inbox = memoryInbox({ store: { ...memoryStore(), start } })
    await expect(watch({ inbox }).receiver.start()).rejects.toThrow('no connection')
    expect((await watch({ inbox }).send()).status).toBe(202)
  })

  it('keeps working after a receiver that never started is closed', async () => {
    const inbox = memoryInbox()
    const [first, second] = [watch({ inbox }), watch({ inbox })]
    await first.receiver.start()
    expect(await second.receiver.close()).toEqual({ lost: 0 })
    expect((await first.send()).status).toBe(202)
  })

  it('restarts a store whose start failed', async () => {
    const start = vi.fn(async () => {})
    start.mockRejectedValueOnce(new Error('no connection'))
    const { send } = watch({ inbox: memoryInbox({ store: { ...memoryStore(), start } }) })
    expect((await send()).status).toBe(503)
    expect((await send()).status).toBe(202)
  })

  it('returns 503 while its store hangs at start, and ends with its receiver', async () => {
    const start = vi.fn<() => Promise<void>>(() => new Promise(() => {}))
    const { receiver, send } = watch({ inbox: memoryInbox({ store: { ...memoryStore(), start } }) })
    const reply = send()
    await advance(3000)
    expect(await reply).toMatchObject({ status: 503, code: 'inbox_unavailable' })
    const again = send()
    await settle()
    expect(start).toHaveBeenCalledTimes(2)
    const closed = receiver.close({ timeout: '1s' })
    await advance(1000)
    await advance(1)
    expect(await closed).toEqual({ lost: 0 })
    await advance(3000)
    expect(await again).toMatchObject({ status: 503 })
  })

  it('cannot be reused after it was closed with its receiver', async () => {
    const inbox = memoryInbox()
    const { receiver } = watch({ inbox })
    await receiver.start()
    await receiver.close()
    await expect(watch({ inbox }).receiver.start()).rejects.toThrow(
      "Option 'inbox': it was closed with its receiver: create a new inbox for each receiver",
    )
  })

  it('needs a store with all its methods', () => {
    for (const method of ['claim', 'extend', 'complete', 'release']) {
      expect(() => memoryInbox({ store: { ...memoryStore(), [method]: undefined } as never })).toThrow(
        `Option 'store': must be a dedupe store such as memoryStore() or redisStore(client); it has no '${method}'`,
      )
    }
  })

  it('must be started', () => {
    expect(() => memoryInbox().accept({ key: 'k' } as never)).toThrow(ConfigurationError)
  })

  it('starts its store, and passes on its notices', async () => {
    const start = vi.fn(async report => report({ code: 'evicts', message: 'It may forget claims.' }))
    const { receiver, seen, logger } = watch({ store: { ...memoryStore(), start } })
    await receiver.on('*', () => {}).start()
    expect(seen).toEqual([{ kind: 'notice', code: 'evicts', message: 'It may forget claims.' }])
    expect(logger.lines).toEqual([
      { level: 'warn', fields: { code: 'evicts' }, message: 'It may forget claims.' },
    ])
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('reports that memoryStore forgets ids too early', async () => {
    const { receiver, send, seen, logger } = watch({ store: memoryStore({ maxIds: 1 }) })
    receiver.on('*', () => {})
    for (const id of ['a', 'b']) {
      await send({ id })
      await settle()
    }
    const message = expect.stringContaining('maxIds is 1.')
    expect(of(seen, 'notice')).toEqual([{ kind: 'notice', code: 'ids_evicted', message }])
    expect(logger.lines).toEqual([{ level: 'warn', fields: { code: 'ids_evicted' }, message }])
  })

  it('reports how long its oldest event has been waiting', async () => {
    const { receiver, send } = watch({ concurrency: 1 })
    receiver.on('*', () => new Promise(() => {}))
    expect(await receiver.stats()).toMatchObject({ pending: 0, active: 0, dead: 0, oldestPendingMs: 0 })
    await send({ id: 'a' })
    await advance(2000)
    await send({ id: 'b' })
    await advance(3000)
    expect(await receiver.stats()).toMatchObject({ pending: 1, active: 1, dead: 0, oldestPendingMs: 5000 })
  })

  it('tells events that never ran from those that wait for a retry, and from those behind one of their key', async () => {
    const { receiver, send } = watch({
      concurrency: 1,
      retry: { attempts: 3, minDelay: '1h', maxDelay: '1h' },
      serializeBy: event => String(event.data['conversation_id']),
    })
    let fails = true
    receiver.on('*', () => {
      if (fails) throw new Error('no')
      return new Promise(() => {})
    })
    await send({ id: 'a', data: { conversation_id: 'one' } })
    await advance(1000)
    await send({ id: 'b', data: { conversation_id: 'one' } })
    await advance(1000)
    expect(await receiver.stats()).toMatchObject({ pending: 2, active: 0, retrying: 1, oldestUntriedMs: 0 })
    fails = false
    await send({ id: 'c', data: { conversation_id: 'two' } })
    await advance(1000)
    await send({ id: 'd', data: { conversation_id: 'three' } })
    await advance(2000)
    expect(await receiver.stats()).toMatchObject({
      pending: 3,
      active: 1,
      retrying: 1,
      oldestPendingMs: 5000,
      oldestUntriedMs: 2000,
    })
  })
})
