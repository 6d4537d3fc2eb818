import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

it('runs keys that differ only after a NUL in parallel, and the events of each in order', () =>
  withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    const releases: (() => void)[] = []
    const { ran } = await startInbox(inbox, { serialize: true }, async () => {
      await new Promise<void>(resolve => releases.push(resolve))
      return { outcome: 'completed' }
    })
    const of = (key: string, createdAt: number) => newDelivery({ order: { key, createdAt } })
    const events = [
      of('tenant\0one', 1),
      of('tenant\0one', 2),
      of('tenant\0two', 1),
      of('tenant\ufdd00one', 1),
    ]
    for (const event of events) await inbox.accept(event)
    await until('one of each key runs', () => ran.length === 3)
    expect(ran.map(({ id }) => id)).not.toContain(events[1]?.id)
    for (const release of releases.splice(0)) release()
    await until('the next one runs', () => ran.length === 4)
    for (const release of releases) release()
    await inbox.close(1000)
  }))
