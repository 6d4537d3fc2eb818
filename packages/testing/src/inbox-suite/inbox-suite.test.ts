import { memoryInbox } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { inboxCases } from './index.ts'

const EVERYTHING = { durable: true, serialize: true, forgets: true }

describe('the inbox suite', () => {
  it('gives every case an id of its own', () => {
    const ids = inboxCases(EVERYTHING).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('leaves out what an inbox does not promise', () => {
    const common = inboxCases({ durable: false, serialize: false, forgets: false })
    expect(common.every(({ needs }) => needs.length === 0)).toBe(true)
    expect(common.length).toBeLessThan(inboxCases(EVERYTHING).length)
  })
})

describe('memoryInbox', () => {
  for (const { id, name, run } of inboxCases({ durable: false, serialize: true, forgets: true })) {
    it(`${id}: ${name}`, { timeout: 60_000 }, () =>
      run({
        open: () => memoryInbox(),
        reopen: () => {
          throw new Error('the inbox of a process ends with it')
        },
      }),
    )
  }
})
