import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, vi } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

it('reports the age of the oldest unfinished event, even after a redrive of an older one', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const first = sqliteInbox({ path, poll: '20ms' })
    await startInbox(first, {}, async () => ({ outcome: 'dead', error: 'no', notified: true }))
    const dead = newDelivery()
    await first.accept(dead)
    await until('it is dead', async () => (await first.stats()).dead === 1)
    await first.close(1000)
    const web = sqliteInbox({ path, poll: '20ms' })
    await startInbox(web, { concurrency: 0 })
    const accept = async (ageMs: number, parts = {}) => {
      const delivery = newDelivery(parts)
      await web.accept(delivery)
      const database = new DatabaseSync(path)
      database.exec(`PRAGMA busy_timeout = 2000;
        UPDATE ackhook_events SET accepted_at = accepted_at - ${ageMs} WHERE key = '${delivery.key}'`)
      database.close()
    }
    const minutes = async () => Math.round((await web.stats()).oldestPendingMs / 60_000)
    expect(await minutes()).toBe(0)
    await accept(60_000 * 30, { order: { key: 'tenant', createdAt: 1 } })
    await accept(60_000 * 20, { order: { key: 'tenant', createdAt: 2 } })
    await accept(60_000 * 10)
    await web.deadLetters.redrive(dead.key)
    expect(await web.stats()).toMatchObject({ pending: 4, active: 0, dead: 0 })
    expect(await minutes()).toBe(30)
    await web.close(1000)
  }))

it('reports the latest error of events that wait for another attempt, and none before', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    await startInbox(inbox, { concurrency: 1 }, async ({ id }) => ({
      outcome: 'retry',
      // The later failure is due first.
      delayMs: id === 'evt_1' ? 60_000 : 30_000,
      error: new TypeError(id),
    }))
    expect((await inbox.stats()).waitingError).toBeUndefined()
    for (const id of ['evt_1', 'evt_2']) {
      await inbox.accept(newDelivery({ id }))
      await until('it waits', async () => (await inbox.stats()).waitingError === `TypeError: ${id}`)
    }
    expect(await inbox.stats()).toMatchObject({ pending: 2, retrying: 2, oldestUntriedMs: 0 })
    await inbox.close(1000)
  }))

it("uses an index for operators' queries, so that deliveries do not wait long", () =>
  withFolder(async folder => {
    const database = new DatabaseSync(join(folder, 'inbox.db'))
    const seen: string[] = []
    const watched = {
      exec: (sql: string) => database.exec(sql),
      close: () => database.close(),
      prepare(sql: string) {
        seen.push(sql)
        return database.prepare(sql)
      },
    }
    const inbox = sqliteInbox({ database: watched })
    await inbox.stats()
    const reads = seen.filter(sql => /^SELECT.*FROM ackhook_(events|ids)/s.test(sql))
    expect(reads.length).toBeGreaterThan(20)
    for (const sql of reads) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      const details = plan.map(({ detail }) => detail).join('; ')
      expect(details).not.toMatch(/SCAN ackhook_/)
      // Only running events are sorted: at most as many as all processes run at a time.
      if (!sql.includes('state = 1')) expect(details).not.toMatch(/TEMP B-TREE/)
    }
    await inbox.close(0)
    database.close()
  }))

it('counts the events of each minute across all processes', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const now = vi.spyOn(Date, 'now').mockReturnValue(60_000 * 30_000_000)
    const local = new DatabaseSync(path)
    const dying = sqliteInbox({ database: local, poll: '20ms' })
    await startInbox(dying, {}, async () => ({ outcome: 'dead', error: 'no', notified: true }))
    await dying.accept(newDelivery())
    await until('it is dead', async () => (await dying.stats()).dead === 1)
    await dying.close(1000)
    now.mockReturnValue(60_000 * 30_000_001)
    const handling = sqliteInbox({ database: local, poll: '20ms' })
    const { ran } = await startInbox(handling)
    for (let index = 0; index < 3; index++) await handling.accept(newDelivery())
    const sum = async () =>
      (await handling.throughput?.())?.reduce((total, { handled }) => total + handled, 0)
    await until('all are handled', async () => (await sum()) === 3)
    expect(ran).toHaveLength(3)
    expect(await handling.throughput?.()).toEqual([
      { startedAt: 60_000 * 30_000_000, received: 1, handled: 0, deadLettered: 1 },
      { startedAt: 60_000 * 30_000_001, received: 3, handled: 3, deadLettered: 0 },
    ])
    now.mockReturnValue(60_000 * 30_000_060)
    expect(await handling.throughput?.()).toHaveLength(1)
    await handling.close(1000)
    now.mockRestore()
    local.close()
  }))

it('pages through dead letters that died in the same millisecond', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    await startInbox(inbox, { clock: () => 1000 }, async () => ({
      outcome: 'dead',
      error: 'no',
      notified: true,
    }))
    for (let index = 0; index < 5; index++) await inbox.accept(newDelivery())
    await until('all are dead', async () => (await inbox.stats()).dead === 5)
    for (const order of ['newest', 'oldest'] as const) {
      const ids: string[] = []
      for (let after: string | undefined; ids.length < 5; ) {
        const page = await inbox.deadLetters.list({ limit: 2, order, ...(after !== undefined && { after }) })
        ids.push(...page.map(({ id }) => id))
        after = page.at(-1)?.cursor
      }
      expect(new Set(ids).size).toBe(5)
    }
    await inbox.close(1000)
  }))

it('lists waiting events by arrival, including those that wait for a retry', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    let isLater = false
    await startInbox(inbox, { concurrency: 1, serialize: true }, async ({ id }) => {
      if (isLater) return new Promise(() => {})
      isLater = id === failing.id
      return { outcome: 'retry', delayMs: 3_600_000, error: new TypeError('later') }
    })
    const failing = newDelivery()
    await inbox.accept(failing)
    await until('it waits', async () => (await inbox.stats()).active === 0)
    const key = 'tenant'
    const others = [
      newDelivery(),
      newDelivery({ order: { key, createdAt: 1 } }),
      newDelivery({ order: { key, createdAt: 2 } }),
    ]
    for (const one of others) await inbox.accept(one)
    await until('one runs', async () => (await inbox.stats()).active === 1)
    const pending = await inbox.browse?.({ state: 'pending' })
    expect(pending?.map(({ id }) => id)).toEqual([failing, ...others.slice(1)].map(({ id }) => id))
    expect(pending?.[0]).toMatchObject({
      attempts: 1,
      reason: 'TypeError: later',
      dueInMs: expect.any(Number),
    })
    expect((await inbox.browse?.({ state: 'active' }))?.map(({ id }) => id)).toEqual([others[0]?.id])
    await expect(inbox.browse?.({ state: 'pending', after: 'x' })).rejects.toMatchObject({
      code: 'configuration_invalid',
    })
    await inbox.close(0)
  }))
