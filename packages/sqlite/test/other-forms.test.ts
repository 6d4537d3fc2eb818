import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError, type Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildVersion, type EarlierVersion, hasCommit } from '../../../test/support/earlier-version.ts'
import { until } from '../../../test/support/until.ts'
import { FileProcess } from './file-process.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

/** The last version with the form before: it has 4, and takes lower numbers for older ones. */
const BEFORE = '09643bf9'
const EARLIER = /has tables of schema 4, .* leaves them alone: let Ackhook at commit 09643bf9 handle/

/** Digests of the file and its log. The log's index is shared memory, and has nothing of its own. */
function bytesIn(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter(name => !name.endsWith('-shm'))
  // A connection that reads creates an empty log.
  const files = names.map(name => [name, readFileSync(join(folder, name))] as const)
  return Object.fromEntries(
    files
      .filter(([, bytes]) => bytes.length > 0)
      .map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  )
}

async function expectRefused(inbox: Inbox, message: RegExp): Promise<void> {
  await expect(startInbox(inbox)).rejects.toThrow(ConfigurationError)
  await expect(startInbox(inbox)).rejects.toThrow(message)
  expect(await inbox.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
  await inbox.close(1000)
}

describe('a file of another form', () => {
  it.each([
    [4, EARLIER],
    [1, /has tables of schema 1, .* commit 09643bf9/],
    [6, /newer version of @ackhook\/sqlite \(schema 6; this one has 5\): install that .* npm install/],
    [99, /newer version/],
  ])('is refused if its number is %i, and stays as it is with all that its log has', (version, message) =>
    withFolder(async folder => {
      const [made, path] = [join(folder, 'made.db'), join(folder, 'inbox.db')]
      const inbox = sqliteInbox(made)
      await startInbox(inbox, { concurrency: 0 })
      await inbox.accept(newDelivery())
      const other = new DatabaseSync(made)
      other.exec(`PRAGMA busy_timeout = 2000; UPDATE ackhook_schema SET version = ${version}`)
      other.exec("UPDATE ackhook_events SET state = 1, token = 'of another:1'")
      // As a crash would leave them: the log is not in the file yet.
      for (const end of ['', '-wal']) copyFileSync(`${made}${end}`, `${path}${end}`)
      other.close()
      await inbox.close(1000)
      const before = bytesIn(folder)
      expect(Object.keys(before)).toContain('inbox.db-wal')
      await expectRefused(sqliteInbox(path), message)
      const tool = sqliteInbox({ path, create: false })
      await expect(tool.stats()).rejects.toThrow(message)
      await tool.close(0)
      expect(bytesIn(folder)).toEqual(before)
      const database = new DatabaseSync(path)
      await expectRefused(sqliteInbox({ database }), message)
      expect(bytesIn(folder)).toEqual(before)
      expect(database.prepare('SELECT state, token FROM ackhook_events').all()).toEqual([
        { state: 1, token: 'of another:1' },
      ])
      database.close()
    }),
  )

  it("leaves the journal mode of a user's database with such tables as it is", () =>
    withFolder(async folder => {
      const database = new DatabaseSync(join(folder, 'own.db'))
      database.exec('CREATE TABLE ackhook_schema (version); INSERT INTO ackhook_schema VALUES (4)')
      const before = bytesIn(folder)
      await expectRefused(sqliteInbox({ database }), EARLIER)
      expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' })
      expect(bytesIn(folder)).toEqual(before)
      database.close()
    }))
})

const isThere = await hasCommit(BEFORE)
if (!isThere) console.warn(`Skips the version before (${BEFORE}): this clone is shallow.`)

describe.runIf(isThere)('the version before and this one', () => {
  let version: EarlierVersion

  beforeAll(async () => {
    version = await buildVersion(BEFORE, ['sqlite', 'testing'])
  }, 300_000)
  afterAll(() => version?.remove())

  it('refuse the file of the other one, which stays as it is, and is emptied by its own version', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const crashed = await FileProcess.start(path, { root: version.folder })
      const ids = await crashed.deliver(3)
      await crashed.kill()
      const before = bytesIn(folder)
      expect(Object.keys(before)).toEqual(['inbox.db', 'inbox.db-wal'])
      const refused = await FileProcess.start(path)
      expect(await refused.next(({ kind }) => kind === 'refused')).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringMatching(EARLIER),
      })
      expect(bytesIn(folder)).toEqual(before)

      const again = await FileProcess.start(path, { root: version.folder, concurrency: 4 })
      for (const id of ids) await again.next(line => line.kind === 'begins' && line['id'] === id)
      // Beside a process of its own version too.
      await expectRefused(sqliteInbox(path), EARLIER)
      again.send('release')
      for (const id of ids) await again.next(line => line.kind === 'ends' && line['id'] === id)
      await until('it is empty', async () => (await again.stats())['active'] === 0)
      await again.close()
    }))

  it('are refused by the file of this one while it works, and after it has crashed', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const current = await FileProcess.start(path, { concurrency: 4 })
      const ids = await current.deliver(3)
      for (const id of ids) await current.next(line => line.kind === 'begins' && line['id'] === id)
      const beside = await FileProcess.start(path, { root: version.folder })
      const message = expect.stringMatching(/newer release of @ackhook\/sqlite \(schema 5; .* up to 4\)/)
      expect(await beside.next(({ kind }) => kind === 'refused')).toMatchObject({ message })
      await current.kill()
      const after = await FileProcess.start(path, { root: version.folder })
      expect(await after.next(({ kind }) => kind === 'refused')).toMatchObject({ message })
      expect(readdirSync(folder).filter(name => name.includes('schema'))).toEqual([])

      const next = await FileProcess.start(path, { concurrency: 4 })
      for (const id of ids) await next.next(line => line.kind === 'begins' && line['id'] === id)
      next.send('release')
      for (const id of ids) await next.next(line => line.kind === 'ends' && line['id'] === id)
      await next.close()
    }))
})
