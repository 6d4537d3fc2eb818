import { describe, expect, it, vi } from 'vitest'
import type { EventLookup } from '../inbox/browse.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import type { Observation } from '../observe/observation.ts'
import { createReceiver } from '../receiver/create-receiver.ts'
import { eraseEvents } from './erase-events.ts'

type State = 'pending' | 'active' | 'dead'

/** An inbox with these events, by key. */
function inboxOf(events: Readonly<Record<string, readonly [State, object | string, string?]>>) {
  const rows = new Map(Object.entries(events))
  const found = (key: string): EventLookup => {
    const row = rows.get(key)
    if (row === undefined) return { state: 'unknown' }
    const [state, event, namespace = ''] = row
    const body = new TextEncoder().encode(typeof event === 'string' ? event : JSON.stringify(event))
    const head = { key, id: key, type: 'a.b', namespace, receivedAt: 0, attempts: 0, cursor: '' }
    return { state, event: { ...head, body } }
  }
  const remove = (key: string, state: State) => rows.get(key)?.[0] === state && rows.delete(key)
  const lookup = vi.fn(found)
  const base = memoryInbox()
  const inbox: Inbox = {
    ...base,
    durable: true,
    lookup,
    deadLetters: { ...base.deadLetters, discard: key => remove(key, 'dead') },
    erasure: {
      async *scan() {
        yield [...rows.keys()]
      },
      eraseWaiting: key => remove(key, 'pending'),
    },
  }
  return { inbox, rows, lookup }
}

const of = (contact: unknown) => ({ data: { contact: { id: contact } } })

describe('eraseEvents', () => {
  it('deletes dead and waiting events that match, and counts those that run', async () => {
    const { inbox, rows } = inboxOf({
      waiting: ['pending', of('ct_1')],
      running: ['active', of('ct_1')],
      dead: ['dead', of('ct_1')],
      other: ['dead', of('ct_2')],
      none: ['pending', { data: {} }],
    })
    const erased = await eraseEvents(inbox, { where: { 'data.contact.id': 'ct_1' } })
    expect(erased).toEqual({ scanned: 5, dead: 1, waiting: 1, running: 1, unreadable: 0 })
    expect([...rows.keys()]).toEqual(['running', 'other', 'none'])
  })

  it('deletes nothing in a dry run', async () => {
    const { inbox, rows } = inboxOf({ waiting: ['pending', of('ct_1')], dead: ['dead', of('ct_1')] })
    const erased = await eraseEvents(inbox, { where: { 'data.contact.id': 'ct_1' }, dryRun: true })
    expect(erased).toMatchObject({ dead: 1, waiting: 1 })
    expect(rows.size).toBe(2)
  })

  it('compares values as texts, looks into arrays, and needs all paths', async () => {
    const { inbox, rows } = inboxOf({
      number: ['dead', { data: { id: 42, tags: [{ name: 'a' }, { name: 'b' }] } }],
      otherTag: ['dead', { data: { id: 42, tags: [] } }],
      object: ['dead', { data: { id: { toString: '42' } } }],
      inherited: ['dead', { data: [] }],
    })
    await eraseEvents(inbox, { where: { 'data.id': '42', 'data.tags.name': 'b' } })
    expect([...rows.keys()]).toEqual(['otherTag', 'object', 'inherited'])
    await eraseEvents(inbox, { where: { 'data.length': 0 } })
    expect(rows.size).toBe(3)
  })

  it('takes a function, and one namespace', async () => {
    const { inbox, rows } = inboxOf({
      a: ['dead', { n: 1 }, 'acme'],
      b: ['dead', { n: 1 }, 'other'],
      c: ['dead', { n: 2 }, 'acme'],
    })
    const where = (event: Readonly<Record<string, unknown>>) => event['n'] === 1
    await eraseEvents(inbox, { where, namespace: 'acme' })
    expect([...rows.keys()]).toEqual(['b', 'c'])
  })

  it('counts what it cannot read, and keeps it', async () => {
    const { inbox, rows } = inboxOf({ a: ['dead', '\0acks\u0001…'] })
    expect(await eraseEvents(inbox, { where: { id: 'x' } })).toMatchObject({ unreadable: 1, dead: 0 })
    expect(rows.size).toBe(1)
  })

  it('looks again if an event changes its state meanwhile, and counts one that goes on doing so as running', async () => {
    const { inbox, rows, lookup } = inboxOf({ a: ['pending', of('x')], b: ['dead', of('x')] })
    const stale = lookup.getMockImplementation()!
    lookup.mockImplementation(key => {
      const found = stale(key)
      if (key === 'b') return { ...found, state: 'pending' } as EventLookup
      if (lookup.mock.calls.length === 1) rows.set('a', ['dead', of('x')])
      return found
    })
    expect(await eraseEvents(inbox, { where: { 'data.contact.id': 'x' } })).toMatchObject({
      dead: 1,
      running: 1,
    })
    expect([...rows.keys()]).toEqual(['b'])
  })

  it('logs and observes what it has deleted, also before a failure', async () => {
    const { inbox, lookup } = inboxOf({ a: ['pending', of('x')], b: ['dead', of('x')] })
    const observed: Observation[] = []
    const warn = vi.fn()
    const receiver = createReceiver({
      secret: 'a-secret-of-at-least-16-bytes',
      inbox,
      observe: observation => void observed.push(observation),
      logger: { info() {}, warn, error() {} },
    })
    const found = lookup.getMockImplementation()!
    lookup.mockImplementation(key => {
      if (key === 'b') throw new Error('away')
      return found(key)
    })
    await expect(eraseEvents(receiver, { where: { 'data.contact.id': 'x' } })).rejects.toThrow('away')
    expect(observed).toEqual([{ kind: 'dropped', cause: 'erasure', dead: 0, waiting: 1 }])
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ code: 'events_erased', waiting: 1 }),
      expect.any(String),
    )
    observed.length = 0
    lookup.mockImplementation(found)
    await eraseEvents(receiver, { where: { 'data.contact.id': 'x' }, dryRun: true })
    expect(observed).toEqual([])
  })

  it.each([
    ['where', {}],
    ['where', { where: {} }],
    ['where', { where: 'x' }],
    ['where', { where: { '': 'x' } }],
    ['where', { where: { 'data.id': null } }],
    ['were', { were: { a: 'b' } }],
  ])('refuses a wrong %s: %j', async (option, options) => {
    const { inbox } = inboxOf({})
    await expect(eraseEvents(inbox, options as never)).rejects.toThrow(expect.objectContaining({ option }))
  })

  it('refuses an inbox that cannot', async () => {
    await expect(eraseEvents(memoryInbox(), { where: { a: 'b' } })).rejects.toThrow(/cannot erase events/)
  })
})
