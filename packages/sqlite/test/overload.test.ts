import { join } from 'node:path'
import { type SqliteInboxOptions, sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const ASKED = 64

it('looks up a few deliveries at a time in a full file, and refuses the others immediately', () =>
  withFolder(async folder => {
    const { inbox, safe, release } = await startFull({ path: join(folder, 'inbox.db') })
    const outcomes: string[] = []
    const answers = Array.from({ length: 3 * ASKED }, async () => {
      outcomes.push((await inbox.accept(newDelivery())).outcome)
    })
    // Immediate refusals need no turn of the event loop; lookups in the file do.
    await Promise.resolve().then(() => {})
    expect(outcomes).toEqual(Array.from({ length: 2 * ASKED }, () => 'full'))
    await Promise.all(answers)
    expect(new Set(outcomes)).toEqual(new Set(['full']))
    expect(await inbox.accept(safe)).toEqual({ outcome: 'duplicate' })
    release()
    await until('there is room', async () => (await inbox.accept(newDelivery())).outcome === 'accepted')
    await inbox.close(2000)
  }))

/** Starts an inbox with room for one event, which is running, and lets it refuse another. */
async function startFull(options: SqliteInboxOptions) {
  const inbox = sqliteInbox(options)
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await startInbox(inbox, { capacity: 1 }, async () => {
    await released
    return { outcome: 'completed' }
  })
  const safe = newDelivery()
  expect(await inbox.accept(safe)).toEqual({ outcome: 'accepted' })
  expect(await inbox.accept(newDelivery())).toEqual({ outcome: 'full' })
  return { inbox, safe, release }
}
