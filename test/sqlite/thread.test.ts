import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

it('replaces its thread when that dies, and loses nothing', () =>
  withFolder(async folder => {
    const threads: Worker[] = []
    const seeThread = (worker: Worker): void => void threads.push(worker)
    process.on('worker', seeThread)
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), lease: '1s', poll: '20ms' })
    const { ran } = await startInbox(inbox)
    process.off('worker', seeThread)
    const before = Array.from({ length: 20 }, () => newDelivery())
    const answers = before.map(async one => inbox.accept(one))
    await threads[0]?.terminate()
    const acknowledged = (await Promise.all(answers)).flatMap(({ outcome }, index) =>
      outcome === 'accepted' ? [before[index]?.key] : [],
    )
    const after = newDelivery()
    await until('it accepts again', async () => (await inbox.accept(after)).outcome !== 'unavailable')
    const all = [...acknowledged, after.key]
    await until('every acknowledged event ran', () => all.every(key => ran.some(one => one.key === key)))
    await until('nothing is left', async () => {
      const { pending, active } = await inbox.stats()
      return pending + active === 0
    })
    expect(threads.length).toBe(1)
    await inbox.close(2000)
  }))
