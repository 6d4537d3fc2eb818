import { join } from 'node:path'
import { type SqliteInboxOptions, sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const ASKED = 64

it('asks a full file about some deliveries at a time and refuses the others at once', () =>
  withFolder(async folder => {
    const { inbox, safe, release } = await startFull({ path: join(folder, 'inbox.db') })
    const outcomes: string[] = []
    const answers = Array.from({ length: 3 * ASKED }, async () => {
      outcomes.push((await inbox.accept(newDelivery())).outcome)
    })
    // What was refused here needs no turn of the event loop; what is asked of the file does.
    await Promise.resolve().then(() => {})
    expect(outcomes).toEqual(Array.from({ length: 2 * ASKED }, () => 'full'))
    await Promise.all(answers)
    expect(new Set(outcomes)).toEqual(new Set(['full']))
    expect(await inbox.accept(safe)).toEqual({ outcome: 'duplicate' })
    release()
    await until('there is room', async () => (await inbox.accept(newDelivery())).outcome === 'accepted')
    await inbox.close(2000)
  }))

/** With room for one event, which is running, and having refused another. */
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
