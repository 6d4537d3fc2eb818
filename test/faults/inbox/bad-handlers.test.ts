import { describe, expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { createPlatform } from './platform.ts'
import { startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

const RETRY = { attempts: 5, minDelay: '50ms', maxDelay: '200ms' }
const LEASE_MS = 1000

describe('handlers that misbehave, on sqliteInbox', { timeout: 900_000 }, () => {
  it('retries those that throw or never settle, and the others do not wait for them', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    const options = { retry: RETRY, handlerTimeout: '300ms', concurrency: 64 }
    const receiver = await startReceiver({ mode: 'sqlite', ...space, options })
    const count = scaled(1000, 20)
    for (let index = 0; index < count; index++) {
      await platform.deliver(() => receiver.url, `evt_throw_${index}`, { behaviour: 'throw' })
      await platform.deliver(() => receiver.url, `evt_hang_${index}`, { behaviour: 'hang' })
      await platform.deliver(() => receiver.url, `evt_fine_${index}`)
    }
    const all = count * 3
    await until('every event is handled', () => space.read().done.size === all, 120_000)
    const { begun } = space.read()
    for (let index = 0; index < count; index++) {
      const attempts = [`evt_throw_${index}`, `evt_hang_${index}`, `evt_fine_${index}`].map(id =>
        begun.get(id),
      )
      expect(attempts).toEqual([3, 3, 1])
    }
    receiver.signal('SIGTERM')
    expect(await receiver.exited).toBe(0)
    platform.stop()
    space.remove()
  })

  it('gives the event of a process that stands still to another one, and refuses what comes late', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    // 40 seconds on a lease of 10 in the full run: what counts is that it blocks for longer than its lease.
    const blockMs = scaled(40_000, 4000)
    const lease = `${Math.max(LEASE_MS, blockMs / 4)}ms`
    const blocked = await startReceiver({ mode: 'sqlite', ...space, lease })
    await platform.deliver(() => blocked.url, 'evt_block', { behaviour: { blockMs } })
    await until('it blocks', () => space.read().begun.get('evt_block') === 1)
    const other = await startReceiver({ mode: 'sqlite', ...space, lease })
    await until('the other one has handled it', () => space.read().done.get('evt_block') === 1, blockMs)
    await until('the blocked one has ended too', () => space.read().done.get('evt_block') === 2, 120_000)
    // Its late result changed nothing: the event is handled once for all.
    await until('nothing is left', async () => {
      const { pending, active } = await blocked.ask<{ pending: number; active: number }>('stats')
      return pending + active === 0
    })
    expect(space.read().begun.get('evt_block')).toBe(2)
    for (const receiver of [blocked, other]) {
      receiver.signal('SIGTERM')
      expect(await receiver.exited).toBe(0)
    }
    platform.stop()
    space.remove()
  })

  it('gives up an event that ends its process every time, and handles the others', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    const options = { retry: { ...RETRY, attempts: 3 } }
    const settings = { mode: 'sqlite', ...space, options } as const
    let receiver = await startReceiver(settings)
    await platform.deliver(() => receiver.url, 'evt_exit', { behaviour: 'exit' })
    for (let fall = 0; fall < 3; fall++) {
      expect(await receiver.exited).toBe(1)
      receiver = await startReceiver(settings)
    }
    await platform.deliver(() => receiver.url, 'evt_fine')
    await until('the others are handled', () => space.read().done.get('evt_fine') === 1)
    await until('it is a dead letter', async () => {
      const { dead } = await receiver.ask<{ dead: number }>('stats')
      return dead === 1
    })
    expect(space.read().begun.get('evt_exit')).toBe(3)
    receiver.signal('SIGTERM')
    expect(await receiver.exited).toBe(0)
    platform.stop()
    space.remove()
  })
})
