import { type Inbox, memoryInbox } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { type InboxHooks, inboxSuite } from './index.ts'

const open = () => ({ createInbox: () => memoryInbox() })
const NOTHING = { survives: false, shared: false, serialize: false, forgets: false }
const EVERYTHING = {
  survives: true,
  shared: true,
  serialize: true,
  forgets: true,
  browse: true,
  counts: true,
  many: true,
  drops: true,
  groups: true,
  lookup: true,
  traces: true,
  erases: true,
  activity: true,
  pauses: true,
  pausesTypes: true,
  sharesSlots: true,
}
const HOOKS: InboxHooks = {
  crash: () => ({ inbox: memoryInbox(), kill() {} }),
  failWrites() {},
  skew: () => memoryInbox(),
  distant: () => ({ inbox: memoryInbox(), path() {}, stop() {}, resume() {} }),
  openSmall: open,
}

describe('the inbox suite', () => {
  it('gives every case a unique id, if all needs are met', () => {
    const cases = inboxSuite({ open, capabilities: EVERYTHING, ...HOOKS })
    expect(cases.notRun).toEqual([])
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
    for (const { timeLimitMs } of cases) expect(timeLimitMs).toBeGreaterThanOrEqual(60_000)
  })

  it('lists missing capabilities and hooks, and omits the cases that need them', () => {
    const all = inboxSuite({ open, capabilities: EVERYTHING, ...HOOKS })
    const cases = inboxSuite({ open, capabilities: NOTHING })
    expect(cases.every(({ needs }) => needs.length === 0)).toBe(true)
    const notRun = cases.notRun.flatMap(({ ids }) => ids)
    expect([...cases.map(({ id }) => id), ...notRun].sort()).toEqual(all.map(({ id }) => id).sort())
    expect(cases.notRun.map(({ missing }) => missing).sort()).toEqual(
      [...Object.keys(EVERYTHING), ...Object.keys(HOOKS)].sort(),
    )
    const { crash: _, ...others } = HOOKS
    const [missing] = inboxSuite({ open, capabilities: EVERYTHING, ...others }).notRun
    expect(missing?.text).toBe('9 cases not run: no `crash`')
  })
})

describe('memoryInbox', () => {
  const capabilities = {
    ...EVERYTHING,
    survives: false,
    shared: false,
    many: false,
    drops: false,
    erases: false,
  }
  const openSmall = (bytes: number) => ({
    createInbox() {
      const inbox = memoryInbox()
      const start: Inbox['start'] = (run, policy) => inbox.start(run, { ...policy, capacityBytes: bytes })
      return { ...inbox, start }
    },
  })
  for (const { id, name, timeLimitMs, run } of inboxSuite({ open, openSmall, capabilities })) {
    it.concurrent(`${id}: ${name}`, { timeout: timeLimitMs }, run)
  }
})
