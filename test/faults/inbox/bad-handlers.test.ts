import type { InboxStats } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { itInFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { nothingIsLeft } from './nothing-is-left.ts'
import { createPlatform, type Platform } from './platform.ts'
import { type ReceiverProcess, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled, type Workspace } from './workspace.ts'

const RETRY = { attempts: 5, minDelay: '50ms', maxDelay: '200ms' }
const LEASE_MS = 1000

describe('handlers that misbehave, on sqliteInbox', { timeout: 900_000 }, () => {
  it('are retried if they throw or never settle, and other events do not wait for them', () =>
    retriesThoseThatFail('sqlite', scaled(1000, 20)))

  itInFull('keep their event while their event loop is blocked for longer than the lease', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    // Blocks for 40 s with a lease of 10 s in the full run.
    const blockMs = scaled(40_000, 4000)
    const lease = `${blockMs / 4}ms`
    const blocked = await startReceiver({ mode: 'sqlite', ...space, lease })
    await platform.deliver(() => blocked.url, 'evt_block', { behavior: { blockMs } })
    await until('it blocks', () => space.read().begun.get('evt_block') === 1)
    const other = await startReceiver({ mode: 'sqlite', ...space, lease })
    await until('it is handled', () => space.read().done.get('evt_block') === 1, blockMs * 2)
    await nothingIsLeft(other)
    expect(space.read().begun.get('evt_block')).toBe(1)
    await stop(blocked, other)
    platform.stop()
    space.remove()
  })

  it('lose their event to another process if theirs hangs, and their late result is refused', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    // A blocked event loop keeps its events for six leases. Blocks for longer: one more lease, and time to notice.
    const blockMs = scaled(40_000, 10_000)
    const lease = `${Math.max(LEASE_MS, blockMs / 10)}ms`
    const blocked = await startReceiver({ mode: 'sqlite', ...space, lease })
    await platform.deliver(() => blocked.url, 'evt_block', { behavior: { blockMs } })
    await until('it blocks', () => space.read().begun.get('evt_block') === 1)
    const other = await startReceiver({ mode: 'sqlite', ...space, lease })
    await until('the other process has handled it', () => space.read().done.get('evt_block') === 1, blockMs)
    await until('the blocked handler has ended too', () => space.read().done.get('evt_block') === 2, 120_000)
    // The late result changed nothing: the event is handled.
    await nothingIsLeft(blocked)
    expect(space.read().begun.get('evt_block')).toBe(2)
    await stop(blocked, other)
    platform.stop()
    space.remove()
  })

  it('are not retried forever if they end their process: onDeadLetter runs, and other events are handled', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    const receiver = await fallDown({ space, platform, behavior: 'exit', falls: 5 })
    await platform.deliver(() => receiver.url, 'evt_fine')
    await until('the others are handled', () => space.read().done.get('evt_fine') === 1)
    await until('it is a dead letter', async () => (await receiver.ask<InboxStats>('stats')).dead === 1)
    expect(space.read().begun.get('evt_exit')).toBe(5)
    expect(space.read().dead.get('evt_exit')).toBe(1)
    await stop(receiver)
    platform.stop()
    space.remove()
  })

  itInFull(
    'have onDeadLetter called again if the process ended before that was recorded, but not forever',
    async () => {
      const space = createWorkspace()
      const platform = createPlatform()
      // Five attempts, and three calls of onDeadLetter, which ends the process too.
      const receiver = await fallDown({ space, platform, behavior: 'exit-always', falls: 8 })
      await until('it is a dead letter', async () => (await receiver.ask<InboxStats>('stats')).dead === 1)
      expect(space.read().begun.get('evt_exit')).toBe(5)
      expect(space.read().dead.get('evt_exit')).toBe(3)
      await stop(receiver)
      platform.stop()
      space.remove()
    },
  )
})

describe('an event that was running in a killed process, on sqliteInbox', { timeout: 900_000 }, () => {
  it('runs again immediately if the next process has the file to itself, however long the lease is', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    const settings = { mode: 'sqlite', ...space, lease: '1h', workMs: 300 } as const
    const killed = await startReceiver(settings)
    await platform.deliver(() => killed.url, 'evt_killed')
    await until('it runs', () => space.read().begun.get('evt_killed') === 1)
    killed.signal('SIGKILL')
    await killed.exited
    const startedAt = performance.now()
    const next = await startReceiver(settings)
    await until('it is handled', () => space.read().done.get('evt_killed') === 1)
    console.info(`alone: handled ${Math.round(performance.now() - startedAt)} ms after the start`)
    await stop(next)
    platform.stop()
    space.remove()
  })

  it('runs again in another process only after the lease has expired', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    const leaseMs = scaled(10_000, 2000)
    const settings = { mode: 'sqlite', ...space, lease: `${leaseMs}ms` } as const
    // Its work never ends: it is still running when killed, however long the other process takes to start.
    const killed = await startReceiver({ ...settings, workMs: 600_000 })
    await platform.deliver(() => killed.url, 'evt_killed')
    await until('it runs', () => space.read().begun.get('evt_killed') === 1)
    const other = await startReceiver(settings)
    const killedAt = performance.now()
    killed.signal('SIGKILL')
    await until('it is handled', () => space.read().done.get('evt_killed') === 1)
    const tookMs = performance.now() - killedAt
    expect(tookMs).toBeGreaterThan(leaseMs / 2)
    console.info(`beside: handled ${Math.round(tookMs)} ms after the kill, with a lease of ${leaseMs} ms`)
    await stop(other)
    platform.stop()
    space.remove()
  })
})

describe('handlers that misbehave, if events are not on disk', { timeout: 900_000 }, () => {
  itInFull('are retried in memory, and other events do not wait for them', () =>
    retriesThoseThatFail('memory', scaled(1000, 20)),
  )

  it('cause 500 if the reply waits for them, and the sender retries', async () => {
    const space = createWorkspace()
    const platform = createPlatform()
    const receiver = await startReceiver({ mode: 'after', ...space, options: { handlerTimeout: '300ms' } })
    const reply = (id: string, data?: object) => platform.once(receiver.url, id, data)
    const failing = { behavior: 'throw' }
    expect(await Promise.all([reply('evt_fine'), reply('evt_throw', failing)])).toEqual([200, 500])
    expect(await reply('evt_hang', { behavior: 'hang' })).toBe(500)
    expect(await reply('evt_throw', failing)).toBe(500)
    expect(space.read().begun.get('evt_throw')).toBe(2)
    await stop(receiver)
    platform.stop()
    space.remove()
  })

  itInFull.each([
    ['memory', 'loses the acknowledged event in memory', 202, 1],
    ['after', 'leaves the event to the sender if the reply waits for it', undefined, 2],
  ] as const)('that end the process: %s %s', async (mode, _, status, begun) => {
    const space = createWorkspace()
    const platform = createPlatform()
    const first = await startReceiver({ mode, ...space })
    // In memory mode, the reply is sent before the handler begins, which ends the process a moment later.
    expect(await platform.once(first.url, 'evt_exit', { behavior: 'exit' })).toBe(status)
    expect(await first.exited).toBe(1)
    const next = await startReceiver({ mode, ...space })
    if (status === undefined) await platform.once(next.url, 'evt_exit', { behavior: 'exit' })
    else expect(await next.ask<InboxStats>('stats')).toMatchObject({ pending: 0, active: 0 })
    await until(
      'it has been attempted as often as expected',
      () => space.read().begun.get('evt_exit') === begun,
    )
    expect(space.read().done.size).toBe(0)
    if (status === undefined) expect(await next.exited).toBe(1)
    else await stop(next)
    platform.stop()
    space.remove()
  })
})

async function retriesThoseThatFail(mode: 'sqlite' | 'memory', count: number): Promise<void> {
  const space = createWorkspace()
  const platform = createPlatform()
  const options = { retry: RETRY, handlerTimeout: '300ms', concurrency: 64 }
  const receiver = await startReceiver({ mode, ...space, options })
  for (let index = 0; index < count; index++) {
    await platform.deliver(() => receiver.url, `evt_throw_${index}`, { behavior: 'throw' })
    await platform.deliver(() => receiver.url, `evt_hang_${index}`, { behavior: 'hang' })
    await platform.deliver(() => receiver.url, `evt_fine_${index}`)
  }
  const all = count * 3
  await until('every event is handled', () => space.read().done.size === all, 120_000)
  const { begun } = space.read()
  for (let index = 0; index < count; index++) {
    const attempts = [`evt_throw_${index}`, `evt_hang_${index}`, `evt_fine_${index}`].map(id => begun.get(id))
    expect(attempts).toEqual([3, 3, 1])
  }
  receiver.signal('SIGTERM')
  expect(await receiver.exited).toBe(0)
  platform.stop()
  space.remove()
}

interface FallOptions {
  readonly space: Workspace
  readonly platform: Platform
  readonly behavior: string
  readonly falls: number
}

/** Delivers an event that ends its process, and restarts the process after each crash. */
async function fallDown({ space, platform, behavior, falls }: FallOptions): Promise<ReceiverProcess> {
  const options = { retry: { ...RETRY, attempts: 3 } }
  const settings = { mode: 'sqlite', ...space, options } as const
  let receiver = await startReceiver(settings)
  await platform.deliver(() => receiver.url, 'evt_exit', { behavior })
  for (let fall = 0; fall < falls; fall++) {
    expect(await receiver.exited).toBe(1)
    receiver = await startReceiver(settings)
  }
  return receiver
}

async function stop(...receivers: readonly ReceiverProcess[]): Promise<void> {
  for (const receiver of receivers) {
    receiver.signal('SIGTERM')
    expect(await receiver.exited).toBe(0)
  }
}
