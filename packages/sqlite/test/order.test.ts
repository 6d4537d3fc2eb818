import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
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

it('keeps the order of events that an earlier release stored, and still stores, without the namespace in the key', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const earlier = (id: string, namespace: string, createdAt: number) =>
      newDelivery({ id, namespace, order: { key: 'k', createdAt } })
    const before = sqliteInbox({ path, poll: '20ms' })
    await startInbox(before, { serialize: true, concurrency: 0 })
    const other = new DatabaseSync(path)
    other.exec('PRAGMA busy_timeout = 2000; DROP TRIGGER ackhook_events_order')
    for (const event of [earlier('a1', 'a', 1), earlier('a2', 'a', 2), earlier('b1', 'b', 3)])
      await before.accept(event)
    await before.close(1000)

    const inbox = sqliteInbox({ path, poll: '20ms' })
    const ends: (() => void)[] = []
    const { ran } = await startInbox(inbox, { serialize: true }, async () => {
      await new Promise<void>(resolve => ends.push(resolve))
      return { outcome: 'completed' }
    })
    const ids = () => ran.map(({ id }) => id)
    await until('an event of each namespace runs', () => ran.length === 2)
    expect(ids().toSorted()).toEqual(['a1', 'b1'])
    await inbox.accept(
      newDelivery({ id: 'a4', namespace: 'a', order: { key: '\u001fa\u001fk', createdAt: 4 } }),
    )
    await inbox.accept(earlier('a3', 'a', 3))
    for (const next of ['a2', 'a3', 'a4']) {
      for (const end of ends.splice(0)) end()
      await until('the next event of the key runs', () => ids().at(-1) === next)
    }
    for (const end of ends) end()
    expect(ids().slice(2)).toEqual(['a2', 'a3', 'a4'])
    await inbox.close(1000)
    expect(other.prepare('SELECT version FROM ackhook_schema').all()).toEqual([{ version: 4 }])
    other.close()
  }))
