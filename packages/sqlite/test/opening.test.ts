import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

describe('opening the file of sqliteInbox', () => {
  it('sets and keeps the pragmas that durability requires', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const inbox = sqliteInbox(path)
      await startInbox(inbox)
      await inbox.accept(newDelivery())
      await inbox.close(1000)
      const database = new DatabaseSync(path)
      expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
      expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
      database.close()
    }))

  it('reports a file that is not a database, and works once that is gone', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      writeFileSync(path, 'this is a text of more than a hundred bytes and no database at all, '.repeat(20))
      const inbox = sqliteInbox(path)
      await expect(startInbox(inbox)).rejects.toThrow(/inbox\.db'.*not an SQLite database/)
      expect(await inbox.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
      writeFileSync(path, '')
      await startInbox(inbox)
      expect(await inbox.accept(newDelivery())).toEqual({ outcome: 'accepted' })
      await inbox.close(1000)
    }))

  it('reports a damaged file', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const first = sqliteInbox(path)
      await startInbox(first, { concurrency: 0 })
      for (let index = 0; index < 50; index++) await first.accept(newDelivery())
      await first.close(1000)
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(0x5a, 100))
      const second = sqliteInbox(path)
      await expect(startInbox(second)).rejects.toThrow(/malformed|damaged|not an SQLite database/)
      expect(await second.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
      await second.close(1000)
    }))

  it('reports a missing folder, and works once it exists', () =>
    withFolder(async folder => {
      const path = join(folder, 'missing', 'inbox.db')
      const inbox = sqliteInbox(path)
      await expect(startInbox(inbox)).rejects.toThrow(/folder must exist/)
      mkdirSync(join(folder, 'missing'))
      const { ran } = await startInbox(inbox)
      await inbox.accept(newDelivery())
      await until('it runs', () => ran.length === 1)
      await inbox.close(1000)
    }))

  it('reports that the path is a folder', () =>
    withFolder(async folder => {
      const inbox = sqliteInbox(folder)
      await expect(startInbox(inbox)).rejects.toThrow(ConfigurationError)
      await expect(startInbox(inbox)).rejects.toThrow(/is a folder: name a file in it/)
      await inbox.close(1000)
    }))

  it.each([0, 1, 2, 7])('leaves the user_version %i of an application whose file it shares', version =>
    withFolder(async folder => {
      const path = join(folder, 'app.db')
      const app = new DatabaseSync(path)
      app.exec(`CREATE TABLE users (id); PRAGMA user_version = ${version}`)
      const passed = sqliteInbox({ database: app })
      await startInbox(passed, { concurrency: 0 })
      const delivery = newDelivery()
      expect(await passed.accept(delivery)).toEqual({ outcome: 'accepted' })
      await passed.close(1000)
      const named = sqliteInbox(path)
      const { ran } = await startInbox(named)
      await until('it runs', () => ran.length === 1)
      expect(ran).toMatchObject([{ id: delivery.id }])
      await named.close(1000)
      expect(app.prepare('PRAGMA user_version').get()).toEqual({ user_version: version })
      app.close()
    }),
  )

  it('creates one file when several inboxes open it at the same time', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const inboxes = Array.from({ length: 4 }, () => sqliteInbox(path))
      await Promise.all(inboxes.map(inbox => startInbox(inbox)))
      const delivery = newDelivery()
      const answers = await Promise.all(inboxes.map(async inbox => inbox.accept(delivery)))
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
        'accepted',
        'duplicate',
        'duplicate',
        'duplicate',
      ])
      for (const inbox of inboxes) await inbox.close(1000)
      const database = new DatabaseSync(path)
      expect(database.prepare('SELECT version FROM ackhook_schema').all()).toEqual([{ version: 5 }])
      database.close()
    }))

  it('waits while another process locks the whole file, as it does to end orphaned leases', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const first = sqliteInbox(path)
      await startInbox(first)
      await first.close(1000)
      const database = new DatabaseSync(path)
      database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT')
      const second = sqliteInbox(path)
      const started = startInbox(second)
      await new Promise(resolve => setTimeout(resolve, 500))
      database.close()
      await started
      expect(await second.accept(newDelivery())).toEqual({ outcome: 'accepted' })
      await second.close(1000)
    }))

  it('refuses a database in memory', async () => {
    const database = new DatabaseSync(':memory:')
    await expect(startInbox(sqliteInbox({ database }))).rejects.toThrow(/journal_mode is 'memory'/)
    database.close()
  })

  it("works on a user's database, and leaves it open", () =>
    withFolder(async folder => {
      const database = new DatabaseSync(join(folder, 'own.db'))
      const inbox = sqliteInbox({ database })
      const { ran } = await startInbox(inbox)
      const deliveries = Array.from({ length: 50 }, () => newDelivery())
      const answers = await Promise.all(deliveries.map(async one => inbox.accept(one)))
      expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['accepted']))
      await until('all ran', () => ran.length === 50)
      await inbox.close(1000)
      const row = database.prepare('SELECT count(*) AS count FROM ackhook_ids').get()
      expect(row).toEqual({ count: 50 })
      database.close()
    }))

  it("sets the pragmas that durability requires in a user's database", () =>
    withFolder(async folder => {
      const database = new DatabaseSync(join(folder, 'own.db'))
      database.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 7')
      const inbox = sqliteInbox({ database })
      await startInbox(inbox)
      expect(await inbox.accept(newDelivery())).toEqual({ outcome: 'accepted' })
      expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
      expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
      expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 1000 })
      await inbox.close(1000)
      database.close()
    }))

  it('creates and changes nothing with create: false', () =>
    withFolder(async folder => {
      const path = join(folder, 'app.db')
      const missing = sqliteInbox({ path, create: false })
      await expect(startInbox(missing)).rejects.toThrow(/app\.db': does not exist/)
      await missing.close(0)
      expect(existsSync(path)).toBe(false)

      const app = new DatabaseSync(path)
      app.exec('CREATE TABLE users (id)')
      for (const source of [{ path }, { database: app }]) {
        const foreign = sqliteInbox({ ...source, create: false })
        await expect(startInbox(foreign)).rejects.toThrow(ConfigurationError)
        await expect(foreign.stats()).rejects.toThrow(/is not an inbox file/)
        await foreign.close(0)
      }
      expect(app.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'users' }])
      expect(app.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' })
      app.close()
    }))

  it('returns dead letters and statistics before it has started', () =>
    withFolder(async folder => {
      const inbox = sqliteInbox(join(folder, 'inbox.db'))
      expect(await inbox.stats()).toMatchObject({ pending: 0, active: 0, dead: 0, oldestPendingMs: 0 })
      expect(await inbox.deadLetters.list()).toEqual([])
      await inbox.close(0)
    }))

  it('names the wrong option', () => {
    const wrong: [unknown, RegExp][] = [
      ['', /'path'/],
      [':memory:', /'path'/],
      [{}, /'path'/],
      [{ path: 'a.db', database: {} }, /'database'/],
      [{ database: {} }, /'database'/],
      [{ path: 'a.db', lease: 0 }, /'lease'/],
      [{ path: 'a.db', poll: 'often' }, /'poll'/],
      [{ path: 'a.db', create: 'no' }, /'create'/],
      [{ path: 'a.db', leese: 1 }, /'leese'.*is not an option/],
      [undefined, /'path'/],
    ]
    for (const [options, message] of wrong) {
      expect(() => sqliteInbox(options as string)).toThrow(ConfigurationError)
      expect(() => sqliteInbox(options as string)).toThrow(message)
    }
  })
})
