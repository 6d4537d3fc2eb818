import { join } from 'node:path'
import { inboxProcess, makePolicy } from '@ackhook/conformance/inbox'
import type { Inbox, Observation } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newDelivery, withFolder } from '../../packages/sqlite/test/start-inbox.ts'
import { until } from '../support/until.ts'

// Processes on one file whose clocks differ. No server has the right time, and the file must not lose what others keep.

const PROCESS = new URL('../conformance/sqlite-inbox-process.mjs', import.meta.url)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LETTERS = 10

async function started(inbox: Inbox, fails = true) {
  const observed: Observation[] = []
  const policy = makePolicy({
    deadLetterRetentionMs: 30 * DAY_MS,
    retentionMs: 7 * DAY_MS,
    // The option is for records only.
    clock: () => 0,
    observe: observation => void observed.push(observation),
  })
  const dead = { outcome: 'dead', error: new Error('no'), notified: false } as const
  await inbox.start(async () => (fails ? dead : { outcome: 'completed' }), policy)
  // A process that has closed its inbox has ended.
  onTestFinished(() => inbox.close(1000).then(noop, noop))
  return { inbox, observed }
}

function noop(): void {}

async function skewed(path: string, aheadMs: number, fails = true) {
  return started((await inboxProcess(PROCESS, { path, aheadMs })).inbox, fails)
}

async function die({ inbox }: { readonly inbox: Inbox }, count: number): Promise<void> {
  const { dead } = await inbox.stats()
  for (let i = 0; i < count; i++) await inbox.accept(newDelivery())
  await until('they are dead letters', async () => (await inbox.stats()).dead === dead + count)
}

function toldOf(observed: readonly Observation[]): readonly string[] {
  return observed.flatMap(one => (one.kind === 'notice' && one.code === 'clock_differs' ? [one.message] : []))
}

describe('sqliteInbox', () => {
  it('deletes nothing by its age in a process 31 days ahead, which says so, and still does in the others', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const right = await started(sqliteInbox({ path, poll: '20ms' }))
      await die(right, LETTERS)
      const ahead = await skewed(path, 31 * DAY_MS)
      await until('it says so', () => toldOf(ahead.observed).length > 0)
      expect(toldOf(ahead.observed)[0]).toMatch(/31 days past the newest time in the inbox/)
      expect(await ahead.inbox.deadLetters.now?.()).toBe(undefined)
      // Its own letters seem no older than they are.
      await die(right, 1)
      const letters = await right.inbox.deadLetters.list()
      const now = (await right.inbox.deadLetters.now?.()) ?? Number.NaN
      expect(letters).toHaveLength(LETTERS + 1)
      for (const { failedAt } of letters) expect(failedAt).toBeGreaterThan(now - HOUR_MS)
      expect(toldOf(right.observed)).toEqual([])
    }))

  it('keeps the letters and ids of a process 31 days behind as long as all others', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const right = await started(sqliteInbox({ path, poll: '20ms' }), false)
      const handled = newDelivery()
      await right.inbox.accept(handled)
      await right.inbox.close(1000)
      const behind = await skewed(path, -31 * DAY_MS, false)
      const [other] = [newDelivery()]
      await behind.inbox.accept(other)
      await until('it is handled', async () => (await behind.inbox.accept(other)).outcome === 'duplicate')
      await until('it says so', () => toldOf(behind.observed).length > 0)
      await until('nothing is left', async () => (await behind.inbox.stats()).active === 0)
      await behind.inbox.close(1000)
      const dying = await skewed(path, -31 * DAY_MS)
      await die(dying, LETTERS)
      const next = await started(sqliteInbox({ path, poll: '20ms' }))
      const now = (await next.inbox.deadLetters.now?.()) ?? Number.NaN
      for (const { failedAt } of await next.inbox.deadLetters.list())
        expect(Math.abs(now - failedAt)).toBeLessThan(HOUR_MS)
      for (const delivery of [handled, other])
        expect(await next.inbox.accept(delivery)).toMatchObject({ outcome: 'duplicate' })
    }))

  it('forgets no id early in a process that is 31 days ahead', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const right = await started(sqliteInbox({ path, poll: '20ms' }), false)
      const handled = newDelivery()
      await right.inbox.accept(handled)
      await until('it is handled', async () => (await right.inbox.stats()).active === 0)
      const ahead = await skewed(path, 31 * DAY_MS)
      await until('it says so', () => toldOf(ahead.observed).length > 0)
      expect(await ahead.inbox.accept(handled)).toMatchObject({ outcome: 'duplicate' })
      const database = new DatabaseSync(path)
      const { ids } = database.prepare('SELECT count(*) AS ids FROM ackhook_ids').get() as { ids: number }
      database.close()
      expect(ids).toBe(1)
    }))
})
