import { join } from 'node:path'
import type { Attempt, Process, Verdict } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

/** A process whose attempts end when the test says so. */
function held() {
  const attempts: { readonly attempt: Attempt; finish(verdict: Verdict): void }[] = []
  const process: Process = (_, attempt) => new Promise(resolve => attempts.push({ attempt, finish: resolve }))
  return { attempts, process }
}

describe('leases of sqliteInbox', () => {
  it('are renewed while the handlers run, so that nobody else gets the event', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const one = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const two = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, process } = held()
      await startInbox(one, {}, process)
      const { ran } = await startInbox(two)
      await one.accept(newDelivery())
      await until('it runs', () => attempts.length + ran.length === 1)
      if (ran.length === 0) {
        await new Promise(resolve => setTimeout(resolve, 2500))
        expect(ran).toEqual([])
        expect(attempts[0]?.attempt.signal.aborted).toBe(false)
        attempts[0]?.finish({ outcome: 'completed' })
      }
      await Promise.all([one.close(2000), two.close(2000)])
    }))

  it('when lost, abort the attempt, and what it answers afterwards changes nothing', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const inbox = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, process } = held()
      const { seen } = await startInbox(inbox, {}, process)
      const delivery = newDelivery()
      await inbox.accept(delivery)
      await until('it runs', () => attempts.length === 1)
      // Somebody else takes it, as after this process stood still.
      const database = new DatabaseSync(path)
      database.exec(
        `PRAGMA busy_timeout = 2000; UPDATE ackhook_events SET token = 'other', due = ${Date.now() + 60_000}`,
      )
      await until('the attempt is aborted', () => attempts[0]?.attempt.signal.aborted === true)
      expect(attempts[0]?.attempt.signal.reason).toMatchObject({ code: 'lease_lost' })
      expect(seen).toContainEqual(expect.objectContaining({ kind: 'lease_lost', id: delivery.id }))
      attempts[0]?.finish({ outcome: 'completed' })
      await inbox.close(1000)
      expect(database.prepare('SELECT state, token FROM ackhook_events').get()).toEqual({
        state: 1,
        token: 'other',
      })
      database.close()
    }))

  it('of a process that is gone lapse, and the event runs as the next attempt', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const gone = sqliteInbox(path)
      await startInbox(gone, { concurrency: 0 })
      const delivery = newDelivery()
      await gone.accept(delivery)
      await gone.close(0)
      const database = new DatabaseSync(path)
      database.exec(
        `UPDATE ackhook_events SET state = 1, attempts = 1, token = 'gone', due = ${Date.now() + 500}`,
      )
      database.close()
      const next = sqliteInbox({ path, poll: '20ms' })
      const numbers: number[] = []
      await startInbox(next, {}, async (_, { number }) => {
        numbers.push(number)
        return { outcome: 'completed' }
      })
      await until('it runs again', () => numbers.length === 1)
      expect(numbers).toEqual([2])
      await next.close(1000)
    }))

  it('that lapsed in every attempt make a dead letter, without running it once more', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const gone = sqliteInbox(path)
      await startInbox(gone, { concurrency: 0 })
      await gone.accept(newDelivery())
      await gone.close(0)
      const database = new DatabaseSync(path)
      database.exec("UPDATE ackhook_events SET state = 1, attempts = 5, token = 'gone', due = 0")
      database.close()
      const next = sqliteInbox({ path, poll: '20ms' })
      const { ran, seen } = await startInbox(next)
      await until('it is a dead letter', async () => (await next.stats()).dead === 1)
      expect(ran).toEqual([])
      expect(seen).toContainEqual(expect.objectContaining({ kind: 'dead_lettered', attempt: 5 }))
      expect((await next.deadLetters.list())[0]?.reason).toMatch(/LeaseLapsed/)
      await next.close(1000)
    }))
})

describe('finished rows of sqliteInbox', () => {
  it('keep the id and drop the bytes, and go when their retention ends', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const inbox = sqliteInbox({ path, poll: '20ms' })
      await startInbox(inbox, { retentionMs: 1500 })
      const ids = Array.from({ length: 600 }, () => newDelivery())
      await Promise.all(ids.map(async one => inbox.accept(one)))
      await until('all are handled', async () => {
        const { pending, active } = await inbox.stats()
        return pending + active === 0
      })
      const database = new DatabaseSync(path)
      const kept = database.prepare('SELECT count(*) AS rows, sum(length(body)) AS bytes FROM ackhook_events')
      expect(kept.get()).toEqual({ rows: 600, bytes: null })
      await until('they are forgotten', () => (kept.get() as { rows: number }).rows === 0)
      database.close()
      await inbox.close(1000)
    }))
})
