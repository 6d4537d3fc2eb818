import { join } from 'node:path'
import type { Attempt, AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, vi } from 'vitest'
import { inFull, itInFull } from '../../../test/support/in-full.ts'
import { until } from '../../../test/support/until.ts'
import { FileProcess } from './file-process.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

/** The lease of every process here, in milliseconds. */
const LEASE_MS = 2000

/** Starts two processes on a file. One runs an event; the other one would, if nobody did. */
async function twoProcesses(path: string) {
  const one = await FileProcess.start(path, { concurrency: 1 })
  const [id] = await one.deliver(1)
  await one.next(({ kind }) => kind === 'begins')
  const two = await FileProcess.start(path, { concurrency: 1 })
  const kinds = (from: FileProcess) =>
    from.lines.filter(line => line['id'] === id).map(({ kind, code }) => code ?? kind)
  return { one, two, kinds }
}

describe('two processes on one file run an event', () => {
  it('again in the other one, once the first has been stopped for three leases, and the first withdraws it', () =>
    withFolder(async folder => {
      const { one, two, kinds } = await twoProcesses(join(folder, 'inbox.db'))
      one.signal('SIGSTOP')
      await two.next(({ kind }) => kind === 'begins')
      one.signal('SIGCONT')
      await one.next(({ kind }) => kind === 'withdrawn')
      await one.log('lease_lost')
      // Its handler ignores the signal, and its late end changes nothing.
      one.send('release')
      await one.next(({ kind }) => kind === 'ends')
      expect(await two.stats()).toMatchObject({ pending: 0, active: 1 })
      two.send('release')
      await until('it is handled', async () => (await two.stats())['active'] === 0)
      expect([kinds(one), kinds(two)]).toEqual([
        ['begins', 'lease_lost', 'ends'],
        ['begins', 'ends'],
      ])
      for (const each of [one, two]) await each.close()
    }))

  it('in the first one alone, although a handler blocks its event loop for three leases', () =>
    withFolder(async folder => {
      const { one, two, kinds } = await twoProcesses(join(folder, 'inbox.db'))
      one.send(`block ${3 * LEASE_MS}`)
      one.send('release')
      await one.next(({ kind }) => kind === 'ends')
      await until('it is handled', async () => (await two.stats())['active'] === 0)
      expect([kinds(one), kinds(two)]).toEqual([['begins', 'ends'], []])
      for (const each of [one, two]) await each.close()
    }))

  itInFull('again in the other one, once an event loop is blocked for more than six leases', () =>
    withFolder(async folder => {
      const { one, two, kinds } = await twoProcesses(join(folder, 'inbox.db'))
      one.send(`block ${12 * LEASE_MS}`)
      await two.next(({ kind }) => kind === 'begins')
      await one.next(({ kind }) => kind === 'withdrawn')
      for (const each of [one, two]) each.send('release')
      await until('it is handled', async () => (await two.stats())['active'] === 0)
      expect([kinds(one)[1], kinds(two)]).toEqual(['lease_lost', ['begins', 'ends']])
      for (const each of [one, two]) await each.close()
    }),
  )
})

/** Holds attempts until the test finishes them, and counts how many run at once. */
function counted() {
  const attempts: { readonly attempt: Attempt; finish(): void }[] = []
  let running = 0
  let most = 0
  const run: ProcessEvent = async (_, attempt) => {
    most = Math.max(most, ++running)
    // The withdrawal comes first, as in a handler that listens to its signal.
    const result = await new Promise<AttemptResult>(resolve => {
      attempts.push({ attempt, finish: () => resolve({ outcome: 'completed' }) })
      attempt.onAbort(error => resolve({ outcome: 'retry', delayMs: 0, error }))
    })
    running--
    return result
  }
  return { attempts, run, most: () => most }
}

describe('an attempt of sqliteInbox', () => {
  it.each([1, 2])(
    'is withdrawn when nothing could be written for a lease, and its event then runs again in one of %i inboxes',
    inboxes =>
      withFolder(async folder => {
        const path = join(folder, 'inbox.db')
        const { attempts, run, most } = counted()
        const all = Array.from({ length: inboxes }, () => sqliteInbox({ path, lease: '2s', poll: '20ms' }))
        const started = await Promise.all(all.map(inbox => startInbox(inbox, {}, run)))
        await all[0]?.accept(newDelivery())
        await until('it runs', () => attempts.length === 1)
        const other = new DatabaseSync(path)
        other.exec('PRAGMA busy_timeout = 2000; BEGIN IMMEDIATE')
        const lockedAt = performance.now()
        const isWithdrawn = () => attempts[0]?.attempt.signal.aborted === true
        await until('it is withdrawn by the clocks of its process', isWithdrawn)
        expect(attempts[0]?.attempt.signal.reason).toMatchObject({ code: 'lease_lost' })
        // It last was renewed before the lock, at most a third of its length, and the check may wait for the loop.
        expect(performance.now() - lockedAt).toBeGreaterThan(LEASE_MS / 2)
        await until('the lock has lasted for some leases', () => {
          return performance.now() - lockedAt > inFull(8, 2) * LEASE_MS
        })
        expect(attempts).toHaveLength(1)
        other.exec('ROLLBACK')
        await until('it runs again', () => attempts.length === 2)
        attempts[1]?.finish()
        await until('it is handled', async () => (await all[0]?.stats())?.active === 0)
        expect(attempts).toHaveLength(2)
        expect(most()).toBe(1)
        expect(started.flatMap(({ seen }) => seen).filter(({ kind }) => kind === 'lease_lost')).toHaveLength(
          1,
        )
        expect(other.prepare('SELECT count(*) AS ids FROM ackhook_ids').get()).toEqual({ ids: 1 })
        other.close()
        for (const inbox of all) await inbox.close(1000)
      }),
  )

  it.each([
    ['set forward by an hour', Date, 3_600_000],
    ['set back by an hour', Date, -3_600_000],
    ['ahead by an hour, as after a stall', performance, 3_600_000],
  ] as const)('goes on, and no other process begins it, if a clock is %s', (_, source, jumpMs) =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const [now, { attempts, run, most }] = [source.now.bind(source), counted()]
      let offset = 0
      const spy = vi.spyOn(source, 'now').mockImplementation(() => now() + offset)
      const all = [1, 2].map(() => sqliteInbox({ path, lease: '2s', poll: '20ms' }))
      for (const inbox of all) await startInbox(inbox, {}, run)
      await all[0]?.accept(newDelivery())
      await until('it runs', () => attempts.length === 1)
      const database = new DatabaseSync(path)
      const due = database.prepare('SELECT due FROM ackhook_events')
      const jumpedAt = now()
      offset = jumpMs
      const seen = new Set<unknown>()
      await until('it was renewed for longer than a lease since', () => {
        seen.add((due.get() as { readonly due: number }).due)
        return now() - jumpedAt > inFull(6, 1.5) * LEASE_MS && seen.size > 3
      })
      expect(attempts.map(({ attempt }) => attempt.signal.aborted)).toEqual([false])
      attempts[0]?.finish()
      await until('it is handled', async () => (await all[0]?.stats())?.active === 0)
      expect([attempts.length, most()]).toEqual([1, 1])
      database.close()
      for (const inbox of all) await inbox.close(1000)
      spy.mockRestore()
    }),
  )
})
