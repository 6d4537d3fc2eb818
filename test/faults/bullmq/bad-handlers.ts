import type { InboxStats } from '@ackhook/core'
import { expect, test } from 'vitest'
import { inFull, itInFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { watchRss } from '../inbox/watch-rss.ts'
import { type EngineName, nothingIsLeft, report, setUp } from './setting.ts'

const SLOW = 900_000
const RETRY = { attempts: 5, minDelay: '50ms', maxDelay: '200ms' }
/** Attempts in a row that may crash their process before the event is abandoned. */
const MAX_CRASHES = 5

/** Declares tests of handlers that throw, never settle, block the event loop, end the process, or are too slow. */
export function badHandlers(name: EngineName, scaled: (n: number) => number): void {
  test('handlers that throw or never settle are retried, and other events do not wait', {
    timeout: SLOW,
  }, async () => {
    const { start, platform, space } = await setUp(name)
    const options = { retry: RETRY, handlerTimeout: '300ms', concurrency: 64 }
    // A lease that does not expire on a busy machine: an attempt would run twice.
    const receiver = await start({ options, lease: '30s' })
    const count = scaled(1000)
    for (let index = 0; index < count; index++) {
      await platform.deliver(() => receiver.url, `evt_throw_${index}`, { behavior: 'throw' })
      await platform.deliver(() => receiver.url, `evt_hang_${index}`, { behavior: 'hang' })
      await platform.deliver(() => receiver.url, `evt_fine_${index}`)
    }
    await until('every event is handled', () => space.read().done.size === count * 3, 120_000)
    const { begun } = space.read()
    for (let index = 0; index < count; index++) {
      const ids = [`evt_throw_${index}`, `evt_hang_${index}`, `evt_fine_${index}`]
      expect(ids.map(id => begun.get(id))).toEqual([3, 3, 1])
    }
    await nothingIsLeft(receiver)
  })

  test('an event of a process with a blocked event loop runs in another one, and the late result is ignored', {
    timeout: SLOW,
  }, async () => {
    const { start, platform, space } = await setUp(name)
    // Blocks for 40 s with a lease of 8 s in the full run, and on a slow machine as long as the other process needs.
    const blockMs = Math.max(5000, scaled(40_000))
    const lease = `${blockMs / 5}ms`
    const blocked = await start({ lease })
    const behavior = { blockMs, untilDone: true }
    await platform.deliver(() => blocked.url, 'evt_block', { behavior })
    await until('it blocks', () => space.read().begun.get('evt_block') === 1)
    const other = await start({ lease, steady: true })
    await until('the other process has handled it', () => space.read().done.has('evt_block'), 120_000)
    await nothingIsLeft(other)
    await until('the blocked handler has ended too', () => space.read().done.get('evt_block') === 2, 120_000)
    // The process works again, and its late result has changed nothing.
    await platform.deliver(() => blocked.url, 'evt_after')
    await until('it works again', () => space.read().done.has('evt_after'))
    expect(await blocked.ask<InboxStats>('stats')).toMatchObject({ pending: 0, dead: 0 })
    expect(space.read().begun.get('evt_block')).toBe(2)
    expect(await platform.once(other.url, 'evt_block')).toBe(200)
  })

  test.each(
    [
      ['an event that ends its process every time is dead-lettered, with a call of onDeadLetter', 'exit', 1],
      ['an event that ends its process in onDeadLetter too is dead-lettered anyway', 'exit-always', 3],
    ].slice(0, inFull(2, 1)) as [string, string, number][],
  )('%s', { timeout: SLOW }, async (_, behavior, notifications) => {
    const { server, start, platform, space } = await setUp(name)
    // Crashes every time in the full run; a shorter run starts with the count of the crashes that it skips.
    const runs = Math.min(MAX_CRASHES, Math.max(2, scaled(MAX_CRASHES)))
    const settings = { queue: `exit-${behavior}` }
    let receiver = await start(settings)
    await platform.deliver(() => receiver.url, 'evt_exit', { behavior })
    await receiver.exited
    if (runs < MAX_CRASHES) await server.countStalls(settings.queue, MAX_CRASHES - runs)
    const crashes = runs + (behavior === 'exit-always' ? notifications : 0)
    for (let crash = 1; crash < crashes; crash++) {
      // The process may take the event, and end, before it listens.
      const next = await start(settings).catch(error => {
        expect(String(error)).toContain('ended with 1')
        return undefined
      })
      if (next !== undefined) expect(await next.exited).toBe(1)
    }
    receiver = await start(settings)
    await platform.deliver(() => receiver.url, 'evt_fine')
    await until('the others are handled', () => space.read().done.has('evt_fine'))
    await until('it is a dead letter', async () => (await receiver.ask<InboxStats>('stats')).dead === 1)
    expect(space.read().begun.get('evt_exit')).toBe(runs)
    expect(space.read().dead.get('evt_exit')).toBe(notifications)
  })

  itInFull(
    'more events than it can handle: 503 beyond the capacity, no growth, all handled in the end',
    {
      timeout: SLOW,
    },
    async () => {
      // Limits connections: 5,000 sockets cost Node about 100 MB, whatever the receiver does.
      const { start, platform, space } = await setUp(name, 500)
      const events = Math.max(400, scaled(5000))
      const capacity = events / 5
      const workMs = Math.max(100, scaled(1000))
      const options = { capacity, concurrency: capacity / 2 }
      // Uses the default lease: on a busy machine, a shorter one expires, and events run twice.
      const receiver = await start({ workMs, lease: '30s', options })
      const warm = Array.from({ length: Math.max(600, capacity) }, (_, i) => `evt_warm_${i}`)
      await Promise.all(warm.map(id => platform.deliver(() => receiver.url, id)))
      const idle = await receiver.ask<number>('rss')
      const peak = watchRss(receiver)
      const ids = Array.from({ length: events }, (_, i) => `evt_${i}`)
      await Promise.all(ids.map(id => platform.deliver(() => receiver.url, id)))
      const handled = () => {
        const { done } = space.read()
        return ids.every(id => done.get(id) === 1)
      }
      await until('every event is handled, once', handled, 300_000)
      const most = await peak.stop()
      const statuses = new Set(platform.attempts.map(({ status }) => status))
      expect([...statuses].filter(status => status !== 200 && status !== 202)).toEqual([503])
      const rss = `RSS ${Math.round(idle / 1e6)} MB idle, ${Math.round(most / 1e6)} MB at most`
      report(`${name}: ${events} events at once, capacity ${capacity}: ${rss}`)
      // Measured: 1.2 to 1.75 on both engines; up to 1.5 for a bare node:http server. After a collection it is 1.2 times
      // idle: the rest is garbage that V8 has not collected yet.
      expect(most / idle).toBeLessThan(2)
    },
  )
}
