import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type SqliteInboxOptions, sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const FILES = ['', '-wal', '-shm']

it.each([
  ['deleted', (path: string) => rmSync(path)],
  ['moved', (path: string) => renameSync(path, `${path}.old`)],
] as const)('refuses new events once its file is %s, and runs those already acknowledged', (_, change) =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const { inbox, ran, release } = await startHeld({ path, poll: '20ms' })
    for (let index = 0; index < 3; index++) await inbox.accept(newDelivery())
    for (const suffix of FILES) change(path + suffix)
    const refused = await inbox.accept(newDelivery())
    expect(refused).toMatchObject({ outcome: 'unavailable' })
    expect(String((refused as { cause?: unknown }).cause)).toMatch(/inbox\.db'.*put it back, or restart/)
    release()
    await until('the others ran', () => ran.length === 3)
    await until('they are recorded', async () => (await inbox.stats()).pending === 0)
    await inbox.close(1000)
  }),
)

it('begins no event once its file is replaced: the processes that open the new one may run it', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const { inbox, ran, release } = await startHeld({ path, poll: '20ms' })
    for (let index = 0; index < 3; index++) await inbox.accept(newDelivery())
    await until('the first one begins', () => ran.length === 1)
    for (const suffix of FILES) {
      copyFileSync(path + suffix, `${path}${suffix}.new`)
      renameSync(`${path}${suffix}.new`, path + suffix)
    }
    expect(await inbox.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
    release()
    await expect(inbox.stats()).rejects.toThrow(/put it back, or restart/)
    await inbox.close(1000)
    expect(ran).toHaveLength(1)
  }))

it('accepts events again once its file is back in place', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const { inbox, ran, release } = await startHeld({ path, poll: '20ms' })
    release()
    const move = (from: string, to: string) => {
      for (const suffix of FILES) renameSync(join(folder, from + suffix), join(folder, to + suffix))
    }
    move('inbox.db', 'away.db')
    expect(await inbox.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
    move('away.db', 'inbox.db')
    const delivery = newDelivery()
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
    await until('it ran', () => ran.some(({ key }) => key === delivery.key))
    await inbox.close(1000)
  }))

/** Starts an inbox that runs one event at a time and finishes none before `release`. */
async function startHeld(options: SqliteInboxOptions) {
  const inbox = sqliteInbox(options)
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const { ran } = await startInbox(inbox, { concurrency: 1 }, async () => {
    await released
    return { outcome: 'completed' }
  })
  return { inbox, ran, release }
}
