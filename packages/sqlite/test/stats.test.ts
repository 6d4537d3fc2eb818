import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
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

it('counts rows by the index alone, so that deliveries do not wait for it long', () =>
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
    const counts = seen.filter(sql => /count\(\*\)|min\(accepted_at\)/.test(sql))
    expect(counts.length).toBe(3)
    for (const sql of counts) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      const details = plan.map(({ detail }) => detail).join('; ')
      expect(details).toMatch(/COVERING INDEX ackhook_events_due \(state|INTEGER PRIMARY KEY/)
    }
    await inbox.close(0)
    database.close()
  }))
