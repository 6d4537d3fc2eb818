import { join } from 'node:path'
import type { AttemptResult } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const now = Date.now
afterEach(() => {
  vi.restoreAllMocks()
})

/** Sets the machine's clock back, or forward if `byMs` is negative. */
function setBack(byMs: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => now() - byMs)
}

describe('setting the clock back under sqliteInbox', () => {
  it('delays neither untried events nor released or redriven ones', () =>
    withFolder(async folder => {
      const database = new DatabaseSync(join(folder, 'inbox.db'))
      const inbox = sqliteInbox({ database, poll: '20ms' })
      let dies = true
      let release = (): void => {}
      const released = new Promise<void>(resolve => {
        release = resolve
      })
      const { ran } = await startInbox(inbox, { concurrency: 1, serialize: true }, async ({ id }) => {
        await released
        if (id !== dead.id || !dies) return { outcome: 'completed' }
        dies = false
        return { outcome: 'dead', error: new Error('no'), notified: true }
      })
      const dead = newDelivery()
      const ordered = [1, 2].map(createdAt => newDelivery({ order: { key: 'tenant', createdAt } }))
      const deliveries = [dead, newDelivery(), ...ordered]
      for (const delivery of deliveries) await inbox.accept(delivery)
      setBack(3_600_000)
      release()
      await until('all ran', () => ran.length === deliveries.length)
      await until('one is dead', async () => (await inbox.stats()).dead === 1)
      setBack(7_200_000)
      await inbox.deadLetters.redrive(dead.key)
      await until('it ran again', () => ran.length === deliveries.length + 1)
      await until('nothing is left', async () => {
        const { pending, active } = await inbox.stats()
        return pending + active === 0
      })
      await inbox.close(1000)
      database.close()
    }))

  it.each<readonly [string, AttemptResult]>([
    ['a retry', { outcome: 'retry', delayMs: 500, error: new Error('later') }],
    ['a postponed event', { outcome: 'postponed', delayMs: 500, routingToken: 8 }],
  ])('makes %s wait for its delay once more, and no longer', (_, result) =>
    withFolder(async folder => {
      const database = new DatabaseSync(join(folder, 'inbox.db'))
      const inbox = sqliteInbox({ database, poll: '20ms' })
      const { ran } = await startInbox(inbox, {}, async () => {
        if (ran.length > 1) return { outcome: 'completed' }
        // Stops the clock, so that nothing comes due on a slow machine.
        vi.spyOn(Date, 'now').mockReturnValue(now() + 3_600_000)
        return result
      })
      await inbox.accept(newDelivery())
      await until('it waits', async () => ran.length === 1 && (await inbox.stats()).active === 0)
      const setBackAt = performance.now()
      vi.restoreAllMocks()
      await until('it ran again', () => ran.length === 2)
      expect(performance.now() - setBackAt).toBeGreaterThanOrEqual(490)
      await inbox.close(1000)
      database.close()
    }),
  )

  it('leaves a file from which the next process runs everything', () =>
    withFolder(async folder => {
      const database = new DatabaseSync(join(folder, 'inbox.db'))
      const first = sqliteInbox({ database, poll: '20ms' })
      const never = () => new Promise<never>(() => {})
      const { ran: begun } = await startInbox(first, { concurrency: 1 }, never)
      const deliveries = [newDelivery(), newDelivery()]
      for (const delivery of deliveries) await first.accept(delivery)
      await until('one runs', () => begun.length === 1)
      await first.close(0)
      setBack(3_600_000)
      const next = sqliteInbox({ database, poll: '20ms' })
      const { ran } = await startInbox(next)
      await until('both ran', () => ran.length === 2)
      await next.close(1000)
      database.close()
    }))
})

it('runs a due retry before events that arrived after it was due', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    const [fails, holds, late] = [newDelivery(), newDelivery(), newDelivery()]
    let failedAt: number | undefined
    let release = (): void => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const { ran } = await startInbox(inbox, { concurrency: 1 }, async ({ id }) => {
      if (id === holds.id) await released
      if (id !== fails.id || failedAt !== undefined) return { outcome: 'completed' }
      failedAt = Date.now()
      return { outcome: 'retry', delayMs: 100, error: new Error('later') }
    })
    await inbox.accept(fails)
    await inbox.accept(holds)
    await until('the other one runs', () => ran.length === 2)
    await until('the retry is overdue', () => Date.now() > (failedAt ?? 0) + 500)
    await inbox.accept(late)
    release()
    await until('all ran', () => ran.length === 4)
    expect(ran.map(({ id }) => id)).toEqual([fails.id, holds.id, fails.id, late.id])
    await inbox.close(1000)
  }))

it('remembers an id until its retention is over, and not after', () =>
  withFolder(async folder => {
    const database = new DatabaseSync(join(folder, 'inbox.db'))
    const inbox = sqliteInbox({ database, poll: '20ms' })
    const { ran } = await startInbox(inbox, { retentionMs: 3_600_000 })
    const [event, other] = [newDelivery(), newDelivery()]
    for (const one of [event, other]) await inbox.accept(one)
    const done = database.prepare('SELECT count(*) AS rows FROM ackhook_ids')
    await until('both are handled', () => (done.get() as { rows: number }).rows === 2)
    // A step of the clock itself would only cast doubt on it.
    const age = (key: string, ms: number) =>
      database.exec(`UPDATE ackhook_ids SET forget_at = forget_at - ${ms} WHERE key = '${key}'`)
    age(event.key, 3_540_000)
    age(other.key, 3_660_000)
    await until('the older id is forgotten', () => (done.get() as { rows: number }).rows === 1)
    expect(await inbox.accept(event)).toEqual({ outcome: 'duplicate' })
    expect(await inbox.accept(other)).toEqual({ outcome: 'accepted' })
    age(event.key, 120_000)
    expect(await inbox.accept(event)).toEqual({ outcome: 'accepted' })
    await until('both ran again', () => ran.length === 4)
    await inbox.close(1000)
    database.close()
  }))
