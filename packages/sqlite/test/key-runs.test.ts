import { join } from 'node:path'
import type { Delivery } from '@ackhook/core'
import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { watchedDatabase } from '../../../test/support/watched-database.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const COMPLETED: AttemptResult = { outcome: 'completed' }
const SERIAL = { serialize: true }

function ordered(createdAt: number, key = 'cnv_1'): Delivery {
  return newDelivery({ order: { key, createdAt } })
}

/** Stores `count` events of one key, without running any. */
async function storeBacklog(path: string, count: number): Promise<Delivery[]> {
  const inbox = sqliteInbox(path)
  await startInbox(inbox, { ...SERIAL, concurrency: 0 })
  const backlog = Array.from({ length: count }, (_, index) => ordered(1000 + index))
  await Promise.all(backlog.map(one => inbox.accept(one)))
  await inbox.close(1000)
  return backlog
}

function ids(deliveries: readonly { readonly id: string }[]): string[] {
  return deliveries.map(({ id }) => id)
}

/** Checks that at most one younger event, already taken, begins between an event's acceptance and its own start. */
class OldestFirst {
  readonly #createdAt = new Map<string, number>()
  readonly #overtaken = new Map<string, number>()
  readonly violations: string[] = []

  note({ id, order }: Delivery): void {
    this.#createdAt.set(id, order?.createdAt ?? 0)
  }

  accepted({ id }: Delivery): void {
    if (this.#createdAt.has(id)) this.#overtaken.set(id, 0)
  }

  began({ id }: Pick<Delivery, 'id'>): void {
    const createdAt = this.#createdAt.get(id) ?? 0
    this.#createdAt.delete(id)
    this.#overtaken.delete(id)
    for (const [older, count] of this.#overtaken) {
      if ((this.#createdAt.get(older) ?? 0) >= createdAt) continue
      this.#overtaken.set(older, count + 1)
      if (count > 0) this.violations.push(`${id} of ${createdAt} before ${older}`)
    }
  }
}

describe('a backlog of one key in sqliteInbox', () => {
  it('runs in order, one at a time, and in far fewer transactions than events', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const backlog = await storeBacklog(path, 200)
      let transactions = 0
      const database = watchedDatabase(new DatabaseSync(path), {
        beforeRun: sql => {
          if (sql === 'COMMIT') transactions++
        },
      })
      const inbox = sqliteInbox({ database, poll: '20ms' })
      let running = 0
      const { ran } = await startInbox(inbox, SERIAL, async () => {
        running++
        await Promise.resolve()
        expect(running).toBe(1)
        running--
        return COMPLETED
      })
      await until('all ran', () => ran.length === 200)
      expect(ids(ran)).toEqual(ids(backlog))
      expect(transactions).toBeLessThan(100)
      await inbox.close(1000)
      expect(countRows(path)).toEqual({ handled: 200, left: 0 })
      database.close()
    }))

  it('continues after an event that fails, which keeps its turn', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const backlog = await storeBacklog(path, 5)
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const failing = backlog[2]?.id
      const { ran } = await startInbox(inbox, SERIAL, async ({ id }, { number }) =>
        id === failing && number < 3 ? { outcome: 'retry', delayMs: 30, error: new Error('no') } : COMPLETED,
      )
      await until('all ran', () => ran.length === 7)
      const [first, second, third, ...rest] = ids(backlog)
      expect(ids(ran)).toEqual([first, second, third, third, third, ...rest])
      await inbox.close(1000)
    }))

  it('frees its slot for other keys after 10 ms', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const storing = sqliteInbox(path)
      await startInbox(storing, { ...SERIAL, concurrency: 0 })
      for (let index = 0; index < 60; index++) await storing.accept(ordered(index, `key${index % 2}`))
      await storing.close(1000)
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const keys: number[] = []
      await startInbox(inbox, { ...SERIAL, concurrency: 1 }, async ({ id }) => {
        keys.push(Number(id.slice(4)) % 2)
        await new Promise(resolve => setTimeout(resolve, 4))
        return COMPLETED
      })
      await until('all ran', () => keys.length === 60)
      const longest = Math.max(
        ...keys
          .join('')
          .split(/(?<=0)(?=1)|(?<=1)(?=0)/)
          .map(run => run.length),
      )
      expect(longest).toBeLessThanOrEqual(4)
      await inbox.close(1000)
    }))

  it('gives way to an older event that arrives meanwhile, except for the event already taken', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const [first] = await storeBacklog(path, 60)
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const older = ordered(1)
      const { ran } = await startInbox(inbox, SERIAL, ({ id }) => {
        if (id === first?.id) void inbox.accept(older)
        return COMPLETED
      })
      await until('all ran', () => ran.length === 61)
      expect(ids(ran).indexOf(older.id)).toBeLessThanOrEqual(2)
      await inbox.close(1000)
    }))

  it('gives way to an older event that is being stored when the next ones are read', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await storeBacklog(path, 60)
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const older = ordered(1)
      const { ran } = await startInbox(inbox, SERIAL)
      // The batch that takes the first event is sent at the end of this turn.
      setImmediate(() => void inbox.accept(older))
      await until('all ran', () => ran.length === 61)
      expect(ids(ran).indexOf(older.id)).toBeLessThanOrEqual(2)
      await inbox.close(1000)
    }))

  it('gives way to older events that another process has accepted', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const backlog = await storeBacklog(path, 600)
      const watch = new OldestFirst()
      for (const one of backlog) watch.note(one)
      const other = sqliteInbox(path)
      await startInbox(other, { ...SERIAL, concurrency: 0 })
      const inbox = sqliteInbox({ path, poll: '20ms' })
      let began = 0
      await startInbox(inbox, SERIAL, async one => {
        began++
        watch.began(one)
        await new Promise(resolve => setTimeout(resolve, 1))
        return COMPLETED
      })
      let accepted = 0
      for (; began < 500; accepted++) {
        const older = ordered(100)
        watch.note(older)
        // A starved process can wait in vain for the file's lock. It accepts again, as a sender would.
        await until('it is accepted', async () => (await other.accept(older)).outcome !== 'unavailable')
        watch.accepted(older)
      }
      await until('all ran', () => began === 600 + accepted)
      expect(watch.violations).toEqual([])
      await Promise.all([inbox.close(1000), other.close(1000)])
    }))

  it('stops when the inbox is closed, and leaves the rest in order', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const backlog = await storeBacklog(path, 10)
      const inbox = sqliteInbox({ path, poll: '20ms' })
      let closing: Promise<unknown> | undefined
      const { ran } = await startInbox(inbox, SERIAL, async ({ id }) => {
        if (id === backlog[2]?.id) closing = inbox.close(1000)
        return COMPLETED
      })
      await until('the third one ran', () => closing !== undefined)
      await closing
      expect(ran).toHaveLength(3)
      const next = sqliteInbox({ path, poll: '20ms' })
      const { ran: later } = await startInbox(next, SERIAL)
      await until('the rest ran', () => later.length === 7)
      expect(ids(later)).toEqual(ids(backlog.slice(3)))
      await next.close(1000)
    }))

  it('runs once and is recorded in order when the disk refuses results for a while', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const backlog = await storeBacklog(path, 30)
      let refusals = 0
      const file = new DatabaseSync(path)
      const database = watchedDatabase(file, {
        beforeRun: sql => {
          if (sql === 'COMMIT' && refusals-- > 0) {
            throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
          }
        },
      })
      const inbox = sqliteInbox({ database, poll: '20ms' })
      const { ran, seen } = await startInbox(inbox, SERIAL, async ({ id }) => {
        if (id === backlog[5]?.id) refusals = 2
        await new Promise(resolve => setTimeout(resolve, 1))
        return COMPLETED
      })
      await until('all ran', () => ran.length >= 30)
      await inbox.close(5000)
      expect(ids(ran)).toEqual(ids(backlog))
      expect(seen.map(({ kind }) => kind)).toContain('store_down')
      expect(seen.map(({ kind }) => kind)).not.toContain('lease_lost')
      expect(countRows(path)).toEqual({ handled: 30, left: 0 })
      file.close()
    }))

  it('ends when the previous event loses its lease, and aborts the attempt that has already begun', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const backlog = await storeBacklog(path, 3)
      const other = new DatabaseSync(path)
      other.exec('PRAGMA busy_timeout = 2000')
      let reason: unknown
      const untilWithdrawn: ProcessEvent = (_, attempt) =>
        new Promise(resolve =>
          attempt.onAbort(error => {
            reason = error
            resolve({ outcome: 'retry', delayMs: 0, error })
          }),
        )
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const { ran, seen } = await startInbox(inbox, SERIAL, async (delivery, attempt) => {
        if (delivery.id !== backlog[0]?.id) return untilWithdrawn(delivery, attempt)
        other.exec("UPDATE ackhook_events SET token = 'other' WHERE state = 1")
        return COMPLETED
      })
      await until('it is withdrawn', () => reason !== undefined)
      expect(reason).toMatchObject({ code: 'lease_lost' })
      expect(ids(ran)).toEqual(ids(backlog.slice(0, 2)))
      expect(seen.filter(({ kind }) => kind === 'lease_lost')).toMatchObject(
        backlog.slice(0, 2).map(({ id }) => ({ id })),
      )
      await inbox.close(1000)
      const states = other.prepare('SELECT state, attempts FROM ackhook_events ORDER BY seq').all()
      expect(states).toEqual([
        { state: 1, attempts: 1 },
        { state: 2, attempts: 0 },
        { state: 2, attempts: 0 },
      ])
      other.close()
    }))
})

/** Counts the handled ids and the remaining events in the file. */
function countRows(path: string): unknown {
  const database = new DatabaseSync(path)
  const handled = (database.prepare('SELECT count(*) AS rows FROM ackhook_ids').get() as { rows: number })
    .rows
  const left = (database.prepare('SELECT count(*) AS rows FROM ackhook_events').get() as { rows: number })
    .rows
  database.close()
  return { handled, left }
}
