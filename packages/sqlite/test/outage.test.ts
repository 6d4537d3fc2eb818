import { join } from 'node:path'
import type { AttemptResult } from '@ackhook/core/spi'
import { type SqliteInboxOptions, sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { watchedDatabase } from '../../../test/support/watched-database.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

type Database = NonNullable<SqliteInboxOptions['database']>

it('observes an outage once if due events cannot be taken', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const { database, tries } = countTransactions(new DatabaseSync(path))
    const other = new DatabaseSync(path)
    other.exec('PRAGMA busy_timeout = 2000')
    const inbox = sqliteInbox({ database, poll: '10ms' })
    const retry = { attempts: 1_000_000, minDelayMs: 20, maxDelayMs: 20, factor: 1 }
    const { ran, seen } = await startInbox(inbox, { retry }, async () => ({
      outcome: 'retry',
      delayMs: 20,
      error: new Error('later'),
    }))
    // This thread holds the lock, and must not wait for it.
    database.exec('PRAGMA busy_timeout = 0')
    await inbox.accept(newDelivery())
    for (const outages of [1, 2]) {
      await until('another process locks the file while the event waits', () => holdWhileWaiting(other))
      await until('it is observed', () => seen.length >= outages)
      const before = tries()
      await until('it was tried some more', () => tries() >= before + 5)
      expect(seen).toHaveLength(outages)
      expect(seen.at(-1)).toMatchObject({
        kind: 'store_down',
        operation: 'take',
        error: {
          code: 'inbox_unavailable',
          message: expect.stringMatching(/another process locks the file/),
        },
      })
      const ranBefore = ran.length
      other.exec('ROLLBACK')
      await until('it continues', () => ran.length > ranBefore)
    }
    await inbox.close(1000)
    other.close()
    database.close()
  }))

describe('a result that a locked file refuses', () => {
  /** Runs an event whose handlers end while another process locks the file. */
  async function refused(folder: string, result: AttemptResult = { outcome: 'completed' }) {
    const path = join(folder, 'inbox.db')
    const other = new DatabaseSync(path)
    const database = new DatabaseSync(path)
    const inbox = sqliteInbox({ database })
    const { seen } = await startInbox(inbox, {}, async () => {
      other.exec('BEGIN IMMEDIATE')
      return result
    })
    database.exec('PRAGMA busy_timeout = 0')
    const delivery = newDelivery()
    await inbox.accept(delivery)
    await until('it is refused', () => seen.length > 0)
    return { other, database, inbox, seen, delivery }
  }

  it('is tried once more when the inbox closes', () =>
    withFolder(async folder => {
      const { other, database, inbox, seen } = await refused(folder)
      other.exec('ROLLBACK')
      await inbox.close(0)
      expect(seen.map(({ kind }) => kind)).not.toContain('completion_lost')
      expect(other.prepare('SELECT count(*) AS left FROM ackhook_events').get()).toEqual({ left: 0 })
      for (const open of [other, database]) open.close()
    }))

  it('is tried until the drain ends', () =>
    withFolder(async folder => {
      const { other, database, inbox, seen } = await refused(folder)
      const closing = inbox.close(30_000)
      const tried = seen.length
      await until('it is tried again, and again', () => seen.length >= tried + 3)
      other.exec('ROLLBACK')
      await closing
      expect(seen.map(({ kind }) => kind)).not.toContain('completion_lost')
      expect(other.prepare('SELECT count(*) AS left FROM ackhook_events').get()).toEqual({ left: 0 })
      for (const open of [other, database]) open.close()
    }))

  const error = new Error('no')
  it.each<[AttemptResult, string]>([
    [{ outcome: 'completed' }, 'completion_lost'],
    [{ outcome: 'retry', delayMs: 1000, error }, 'failure_lost'],
    [{ outcome: 'dead', error, notified: false }, 'failure_lost'],
  ])('is observed as lost if that fails too, before the inbox is closed: %j', (result, kind) =>
    withFolder(async folder => {
      const { other, database, inbox, seen, delivery } = await refused(folder, result)
      await inbox.close(0)
      expect(seen.at(-1)).toMatchObject({ kind, id: delivery.id })
      for (const open of [other, database]) open.close()
    }),
  )
})

it('an event is given back although the first try is refused, and so does not count as a crash', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const other = new DatabaseSync(path)
    let refusedAt: number | undefined
    const database = watchedDatabase(new DatabaseSync(path), {
      beforeRun(sql) {
        if (sql !== 'BEGIN IMMEDIATE' || !other.isTransaction) return
        refusedAt ??= performance.now()
        // By then, the first batch with the release was refused.
        if (performance.now() - refusedAt > 600) other.exec('ROLLBACK')
      },
    })
    const inbox = sqliteInbox({ database, poll: '1h' })
    const { ran } = await startInbox(inbox, {}, () => new Promise(() => {}))
    database.exec('PRAGMA busy_timeout = 0')
    await inbox.accept(newDelivery())
    await until('it runs', () => ran.length === 1)
    other.exec('BEGIN IMMEDIATE')
    await inbox.close(0)
    expect(other.isTransaction).toBe(false)
    const row = other.prepare('SELECT state, crashes, token FROM ackhook_events').get()
    expect(row).toEqual({ state: 0, crashes: 0, token: null })
    for (const open of [other, database]) open.close()
  }))

function holdWhileWaiting(database: Database): boolean {
  database.exec('BEGIN IMMEDIATE')
  if (database.prepare('SELECT 1 FROM ackhook_events WHERE state = 0').get() !== undefined) return true
  database.exec('ROLLBACK')
  return false
}

/** Counts transactions that were begun or tried. */
function countTransactions(database: Database) {
  let count = 0
  const counting = watchedDatabase(database, {
    beforeRun(sql) {
      if (sql === 'BEGIN IMMEDIATE') count++
    },
  })
  return { database: counting, tries: () => count }
}
