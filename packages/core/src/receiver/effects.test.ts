import { describe, expect, it, vi } from 'vitest'
import { watch } from '../../../../test/support/receiving.ts'
import { ConfigurationError, NonRetryableError } from '../errors/errors.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { createReceiver } from './create-receiver.ts'
import type { Effects, EffectsHost } from './effects.ts'

const SECRET = 'only-for-trying-it-out'
const inboxThat = (overrides: Partial<Inbox>): Inbox => ({ ...memoryInbox(), ...overrides })
const effectsThat = (overrides: Partial<Effects>): Effects => ({
  start: () => () => {},
  forget: () => true,
  ...overrides,
})

describe('the effects of a receiver', () => {
  it('are started before the inbox, and ended after its drain', async () => {
    const steps: string[] = []
    const inbox = memoryInbox()
    const { receiver } = watch({
      effects: effectsThat({
        async start() {
          steps.push('effects')
          return () => steps.push('ended')
        },
      }),
      inbox: inboxThat({
        start(...args) {
          steps.push('inbox')
          return inbox.start(...args)
        },
        async close(timeoutMs) {
          steps.push('drain')
          return inbox.close(timeoutMs)
        },
      }),
    })
    await receiver.start()
    await receiver.close()
    expect(steps).toEqual(['effects', 'inbox', 'drain', 'ended'])
  })

  it('that cannot be made let the start fail, which the next call repeats', async () => {
    let starts = 0
    const { receiver, send } = watch({
      effects: effectsThat({
        start() {
          starts++
          throw new Error('no table')
        },
      }),
    })
    await expect(receiver.start()).rejects.toThrow('no table')
    expect(await send()).toMatchObject({ status: 503 })
    expect(starts).toBe(2)
  })

  it('are ended if the inbox does not start', async () => {
    const ended = vi.fn()
    const { receiver } = watch({
      effects: effectsThat({ start: () => ended }),
      inbox: inboxThat({
        start() {
          throw new Error('no inbox')
        },
      }),
    })
    await expect(receiver.start()).rejects.toThrow('no inbox')
    expect(ended).toHaveBeenCalledTimes(1)
  })

  it('know how many handlers run, and the dead letters unless only the engine can read them', async () => {
    const hosts: EffectsHost[] = []
    const effects = effectsThat({
      start(host) {
        hosts.push(host)
        return () => {}
      },
    })
    const inbox = memoryInbox()
    const { receiver } = watch({ effects, inbox, concurrency: 3 })
    await receiver.start()
    expect(hosts[0]).toMatchObject({ concurrency: 3, deadLetters: inbox.deadLetters })
    const unreadable = inboxThat({ deadLetters: { ...memoryInbox().deadLetters, unreadable: true } })
    await watch({ effects, inbox: unreadable }).receiver.start()
    expect(hosts[1]?.deadLetters).toBeUndefined()
  })

  it('forget a handled event with its id, and keep the marks of one that waits, runs or is dead', async () => {
    const forgotten: unknown[] = []
    const effects = effectsThat({ forget: (...args) => forgotten.push(args) > 0 })
    let ends: (() => void) | undefined
    const { receiver, send } = watch({ effects, namespace: 'acme' })
    receiver.on('*', ({ data }) => {
      if (data['dies'] === true) throw new NonRetryableError('dead')
      return new Promise<void>(resolve => {
        ends = resolve
      })
    })
    const where = { namespace: 'acme' }
    await send()
    expect(await receiver.forget('evt_1', where)).toBe(false)
    await vi.waitFor(() => expect(ends).toBeDefined())
    ends?.()
    await vi.waitFor(async () => expect(await receiver.forget('evt_1', where)).toBe(true))
    expect(forgotten).toEqual([['evt_1', where]])
    expect(await receiver.forget('evt_1', where)).toBe(false)
    await send({ data: { dies: true } })
    await vi.waitFor(async () => expect(await receiver.deadLetters.get('evt_1', where)).toBeDefined())
    expect(await receiver.forget('evt_1', where)).toBe(false)
    expect(forgotten).toHaveLength(1)
  })

  it('that cannot be forgotten are reported, with what is left to do', async () => {
    const effects = effectsThat({ forget: () => Promise.reject(new Error('no database')) })
    const { receiver, send } = watch({ effects })
    receiver.on('*', () => {})
    await send()
    await vi.waitFor(() =>
      expect(receiver.forget('evt_1')).rejects.toThrow("call forget of the receiver's effects"),
    )
  })

  it('are refused unless they have both methods', () => {
    for (const wrong of [{}, { start() {} }, 5, { forget() {} }])
      expect(() => createReceiver({ secret: SECRET, effects: wrong as never })).toThrow(ConfigurationError)
  })
})
