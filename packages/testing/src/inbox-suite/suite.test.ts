import { memoryInbox } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { type InboxCapabilities, inboxSuite } from './index.ts'

const open = () => ({ createInbox: () => memoryInbox() })
const idsOf = (capabilities: InboxCapabilities) => inboxSuite({ open, capabilities }).map(({ id }) => id)
const ALL = idsOf({ durable: true, serialize: true, forgets: true })
const COMMON = idsOf({ durable: false, serialize: false, forgets: false })

describe('the inbox suite', () => {
  it('gives every case an id of its own', () => {
    expect(new Set(ALL).size).toBe(ALL.length)
  })

  it('leaves out what an inbox does not promise', () => {
    const durable = idsOf({ durable: true, serialize: false, forgets: false })
    const serialize = idsOf({ durable: false, serialize: true, forgets: false })
    const forgets = idsOf({ durable: false, serialize: false, forgets: true })
    const beyond = [durable, serialize, forgets].map(ids => ids.filter(id => !COMMON.includes(id)))
    expect(beyond[0]?.every(id => id.startsWith('durable-'))).toBe(true)
    expect(beyond[1]?.every(id => id.startsWith('order-'))).toBe(true)
    expect(beyond[2]).toEqual(['retention'])
    expect([...COMMON, ...beyond.flat(), 'durable-postpone-order'].toSorted()).toEqual(ALL.toSorted())
  })
})

describe('memoryInbox', () => {
  const capabilities = { durable: false, serialize: true, forgets: true, browse: true, counts: true }
  for (const { id, name, run } of inboxSuite({ open, capabilities })) {
    it(`${id}: ${name}`, { timeout: 60_000 }, run)
  }
})
