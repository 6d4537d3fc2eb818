import { join } from 'node:path'
import { createReceiver, type Inbox, type Observation } from '@ackhook/core'
import type { Attempt, AttemptResult, ProcessEvent, ProcessingPolicy } from '@ackhook/core/spi'
import { type SqliteInboxOptions, sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, vi } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { until } from '../../../test/support/until.ts'
import { watchedDatabase } from '../../../test/support/watched-database.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

type Database = NonNullable<SqliteInboxOptions['database']>

/** Holds attempts until the test finishes them. */
function held() {
  const attempts: { readonly attempt: Attempt; finish(result: AttemptResult): void }[] = []
  const run: ProcessEvent = (_, attempt) =>
    new Promise(resolve => attempts.push({ attempt, finish: resolve }))
  return { attempts, run }
}

describe('leases of sqliteInbox', () => {
  it('are renewed while the handlers run, so that no other process gets the event', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const one = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const two = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, run } = held()
      await startInbox(one, {}, run)
      const { ran } = await startInbox(two)
      await one.accept(newDelivery())
      await until('it runs', () => attempts.length + ran.length === 1)
      if (ran.length === 0) {
        await new Promise(resolve => setTimeout(resolve, 2500))
        expect(ran).toEqual([])
        expect(attempts[0]?.attempt.signal.aborted).toBe(false)
        attempts[0]?.finish({ outcome: 'completed' })
      }
      await Promise.all([one.close(2000), two.close(2000)])
    }))

  it('taken again by the same process are not ended by the late result of an earlier attempt', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const inbox = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, run } = held()
      const { seen } = await startInbox(inbox, {}, run)
      await inbox.accept(newDelivery())
      await until('it runs', () => attempts.length === 1)
      const database = new DatabaseSync(path)
      // Another process has found the lease expired, and put the event back.
      database.exec(
        'PRAGMA busy_timeout = 2000; UPDATE ackhook_events SET state = 0, due = 0, token = NULL, crashes = 1',
      )
      await until('it runs again', () => attempts.length === 2)
      const [late, second] = attempts
      late?.finish({ outcome: 'completed' })
      await until('the late result is refused', () => seen.some(({ kind }) => kind === 'lease_lost'))
      expect(second?.attempt.signal.aborted).toBe(false)
      expect(database.prepare('SELECT state FROM ackhook_events').all()).toEqual([{ state: 1 }])
      second?.finish({ outcome: 'completed' })
      await inbox.close(5000)
      expect(database.prepare('SELECT state FROM ackhook_events').all()).toEqual([])
      database.close()
    }))

  it('when lost, abort the attempt, and its late result changes nothing', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const inbox = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, run } = held()
      const { seen } = await startInbox(inbox, {}, run)
      const delivery = newDelivery()
      await inbox.accept(delivery)
      await until('it runs', () => attempts.length === 1)
      // Another process takes the event, as if this one had hung.
      const database = new DatabaseSync(path)
      database.exec(
        `PRAGMA busy_timeout = 2000; UPDATE ackhook_events SET token = 'other', due = ${Date.now() + 60_000}`,
      )
      await until('the attempt is aborted', () => attempts[0]?.attempt.signal.aborted === true)
      expect(attempts[0]?.attempt.signal.reason).toMatchObject({ code: 'lease_lost' })
      expect(seen).toContainEqual(expect.objectContaining({ kind: 'lease_lost', id: delivery.id }))
      attempts[0]?.finish({ outcome: 'completed' })
      await inbox.close(1000)
      expect(database.prepare('SELECT state, token FROM ackhook_events').get()).toEqual({
        state: 1,
        token: 'other',
      })
      database.close()
    }))

  it('end with their process, and the next one runs the event immediately if no other has the file open', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 1, token = 'gone', due = 9e15")
      const next = sqliteInbox({ path, lease: '1h', poll: '20ms' })
      const { attempts } = await gather(next)
      await until('it runs again', () => attempts.length === 1)
      expect(attempts).toMatchObject([{ number: 2, decision: 'run' }])
      await next.close(1000)
    }))

  it.each([
    ['long ago, by a clock that was set forward', 0],
    ['in the far future, by a clock that was set back', 9e15],
  ])('expire when not renewed for their length, even if they end %s', (_, due) =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const { database, close } = await openBeside(path)
      // Its lease is one second, whatever the lease of the process that watches it.
      await leaveBehind(path, `attempts = 1, token = 'gone:rs', due = ${due}`)
      const next = sqliteInbox({ path, lease: '2s', poll: '20ms' })
      const startedAt = performance.now()
      const { attempts } = await gather(next)
      await until('it runs again', () => attempts.length === 1)
      expect(performance.now() - startedAt).toBeGreaterThan(900)
      expect(attempts).toMatchObject([{ number: 2 }])
      const rows = 'SELECT (SELECT count(*) FROM ackhook_events) + (SELECT count(*) FROM ackhook_ids) AS rows'
      expect(database.prepare(rows).get()).toEqual({ rows: 1 })
      close()
      await next.close(1000)
    }),
  )

  it('are not ended by clock changes while they are renewed', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const one = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, run } = held()
      await startInbox(one, {}, run)
      const delivery = newDelivery()
      await one.accept(delivery)
      await until('it runs', () => attempts.length === 1)
      const database = new DatabaseSync(path)
      const setDue = (due: number) =>
        database.exec(`PRAGMA busy_timeout = 2000; UPDATE ackhook_events SET due = ${due}`)
      const dueNow = () => (database.prepare('SELECT due FROM ackhook_events').get() as { due: number }).due
      const two = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { ran } = await startInbox(two)
      for (let round = 0; round < 5; round++) {
        setDue(round)
        await until('it is renewed', () => dueNow() > round)
      }
      expect(ran).toEqual([])
      attempts[0]?.finish({ outcome: 'completed' })
      await Promise.all([one.close(2000), two.close(2000)])
      database.close()
    }))

  it('are visibly renewed even while the clock does not advance', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const own = new DatabaseSync(path)
      const inbox = sqliteInbox({ database: own, lease: '1s', poll: '20ms' })
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
      const { attempts, run } = held()
      await startInbox(inbox, {}, run)
      await inbox.accept(newDelivery())
      await until('it runs', () => attempts.length === 1)
      const due = own.prepare('SELECT due FROM ackhook_events')
      const seen = new Set<unknown>()
      await until('it has moved twice', () => seen.add((due.get() as { due: number }).due).size === 3)
      clock.mockRestore()
      attempts[0]?.finish({ outcome: 'completed' })
      await inbox.close(1000)
      own.close()
    }))

  it('are watched even by a busy process, which then runs the event before waiting ones', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      const busy = sqliteInbox({ path, lease: '1s', poll: '20ms' })
      const { attempts, run } = held()
      const { ran } = await startInbox(busy, { concurrency: 1 }, run)
      const [first, gone, backlog] = [newDelivery(), newDelivery(), newDelivery()]
      await busy.accept(first)
      await until('it runs', () => attempts.length === 1)
      for (const delivery of [gone, backlog]) await busy.accept(delivery)
      const database = new DatabaseSync(path)
      database.exec(
        `PRAGMA busy_timeout = 2000; UPDATE ackhook_events SET state = 1, token = 'gone:rs' WHERE id = '${gone.id}'`,
      )
      const due = database.prepare(`SELECT due FROM ackhook_events WHERE id = '${first.id}'`)
      const renewals = new Set<unknown>()
      await until('it has held its own for longer than a lease', () => {
        return renewals.add((due.get() as { due: number }).due).size === 14
      })
      attempts[0]?.finish({ outcome: 'completed' })
      await until('the next one runs', () => attempts.length === 2)
      expect(ran.map(({ id }) => id)).toEqual([first.id, gone.id])
      attempts[1]?.finish({ outcome: 'completed' })
      await until('the last one runs', () => attempts.length === 3)
      attempts[2]?.finish({ outcome: 'completed' })
      database.close()
      await busy.close(1000)
    }))
})

describe('an event of sqliteInbox whose process ended', () => {
  const FAILED: AttemptResult = { outcome: 'retry', delayMs: 0, error: new Error('failed') }
  const ONLY_ONE = { attempts: 1, minDelayMs: 10, maxDelayMs: 50, factor: 2 }
  const HOURLY = { attempts: 8, minDelayMs: 3_600_000, maxDelayMs: 3_600_000, factor: 1 }

  it('runs again even if that was its only attempt, which may not have reached a handler', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 1, token = 'gone'")
      const next = sqliteInbox({ path, poll: '20ms' })
      const { attempts } = await gather(next, undefined, { retry: ONLY_ONE })
      await until('it runs', () => attempts.length === 1)
      expect(attempts).toMatchObject([{ decision: 'run' }])
      await next.close(1000)
    }))

  it('runs again after up to four consecutive crashes, whatever its attempts, and is abandoned after five', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 1, token = 'gone'")
      for (const [number, decision] of [
        [2, 'run'],
        [3, 'run'],
        [4, 'run'],
        [5, 'run'],
        [5, 'abandon'],
      ]) {
        const next = sqliteInbox({ path, poll: '20ms' })
        const { attempts } = await gather(next, () => new Promise(() => {}), {
          retry: ONLY_ONE,
        })
        await until('it is taken', () => attempts.length === 1)
        expect(attempts).toMatchObject([{ number, decision }])
        await kill(path, next)
      }
    }))

  it('waits for the retry delays from the second consecutive crash on', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, 'attempts = 2, crashes = 1, token = NULL')
      const random = vi.spyOn(Math, 'random').mockReturnValue(0.5)
      const database = new DatabaseSync(path)
      const next = sqliteInbox({ database, poll: '20ms' })
      const { attempts } = await gather(next, undefined, { retry: HOURLY })
      const rows = database.prepare('SELECT state, crashes, due - ? > 1700000 AS waits FROM ackhook_events')
      await until('it waits', () => (rows.get(Date.now()) as { state: number }).state === 0)
      expect(rows.get(Date.now())).toEqual({ state: 0, crashes: 2, waits: 1 })
      expect(attempts).toEqual([])
      random.mockRestore()
      await next.close(1000)
      database.close()
    }))

  it('runs again immediately after one such attempt, however many failed before', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 4, token = 'gone'")
      const next = sqliteInbox({ path, poll: '20ms' })
      // If the attempt's number counted, the delay would be up to an hour.
      const { attempts } = await gather(next, undefined, { retry: HOURLY })
      await until('it runs again', () => attempts.length === 1)
      expect(attempts).toMatchObject([{ number: 5, decision: 'run' }])
      await next.close(1000)
    }))

  it('runs again before waiting events', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 1, token = 'gone'")
      const web = sqliteInbox({ path, poll: '20ms' })
      await startInbox(web, { concurrency: 0 })
      for (let index = 0; index < 5; index++) await web.accept(newDelivery())
      await web.close(1000)
      const next = sqliteInbox({ path, poll: '20ms' })
      const { attempts } = await gather(next, undefined, { concurrency: 1 })
      await until('all ran', () => attempts.length === 6)
      expect(attempts.map(({ number }) => number)).toEqual([2, 1, 1, 1, 1, 1])
      await next.close(1000)
    }))

  it('resets its crash count when an attempt fails', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 3, crashes = 3, token = 'gone'")
      const first = sqliteInbox({ path, poll: '20ms' })
      const { attempts } = await gather(first, () => (attempts.length === 1 ? FAILED : new Promise(() => {})))
      await until('it failed and runs again', () => attempts.length === 2)
      await kill(path, first)
      const next = sqliteInbox({ path, poll: '20ms' })
      const { attempts: after } = await gather(next)
      await until('it runs once more', () => after.length === 1)
      expect([...attempts, ...after]).toMatchObject([
        { number: 4, decision: 'run' },
        { number: 5, decision: 'run' },
        { number: 6, decision: 'run' },
      ])
      await next.close(1000)
    }))
})

describe('an event of sqliteInbox whose attempts all ended with their process', () => {
  const SECRET = 'a secret of more than sixteen bytes'
  const DEAD: AttemptResult = { outcome: 'dead', error: new Error('given up'), notified: true }
  /** State after the fifth attempt's process has ended too. */
  const FIFTH_CRASH = "attempts = 5, crashes = 4, token = 'gone'"

  it('is taken once more to notify onDeadLetter, and then dead-lettered', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, FIFTH_CRASH)
      const next = sqliteInbox({ path, poll: '20ms' })
      const { attempts } = await gather(next, () => DEAD)
      await until('it is a dead letter', async () => (await next.stats()).dead === 1)
      expect(attempts).toMatchObject([{ number: 5, decision: 'abandon' }])
      expect(await next.deadLetters.list()).toMatchObject([{ attempts: 5, reason: 'Error: given up' }])
      await next.close(1000)
    }))

  it('is passed to onDeadLetter again, with the same attempt number, if a drain aborted the call', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, FIFTH_CRASH)
      const first = sqliteInbox({ path, poll: '20ms' })
      const { attempts: cutShort } = await gather(first, () => new Promise(() => {}))
      await until('onDeadLetter is notified', () => cutShort.length === 1)
      await first.close(0)
      const next = sqliteInbox({ path, poll: '20ms' })
      const { attempts } = await gather(next, () => DEAD)
      await until('it is a dead letter', async () => (await next.stats()).dead === 1)
      expect([...cutShort, ...attempts]).toMatchObject([
        { number: 5, decision: 'abandon' },
        { number: 5, decision: 'abandon' },
      ])
      await next.close(1000)
    }))

  it('is passed to onDeadLetter three times if each call ends the process, then dead-lettered without one', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, FIFTH_CRASH)
      for (const decision of ['abandon', 'abandon', 'abandon', 'dead-letter']) {
        const next = sqliteInbox({ path, poll: '20ms' })
        const { attempts } = await gather(next, () => new Promise(() => {}))
        await until('it is taken', () => attempts.length === 1)
        expect(attempts).toMatchObject([{ number: 5, decision }])
        await kill(path, next)
      }
      const last = sqliteInbox({ path, poll: '20ms' })
      const { attempts } = await gather(last, () =>
        attempts.at(-1)?.decision === 'run' ? { outcome: 'completed' } : DEAD,
      )
      await until('it is a dead letter', async () => (await last.stats()).dead === 1)
      const [letter] = await last.deadLetters.list()
      expect(letter).toMatchObject({ attempts: 5 })
      await last.deadLetters.redrive(letter?.key ?? '')
      await until('a redrive runs it from attempt 1', () => attempts.length === 2)
      expect(attempts).toMatchObject([
        { number: 5, decision: 'dead-letter' },
        { number: 1, decision: 'run' },
      ])
      await last.close(1000)
    }))

  it("becomes a receiver's dead letter without another call of onDeadLetter after three", () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, "attempts = 5, crashes = 7, token = 'gone'")
      const seen: Observation[] = []
      const inbox = sqliteInbox({ path, poll: '20ms' })
      const receiver = createReceiver({
        secret: SECRET,
        inbox,
        retry: { minDelay: '10ms', maxDelay: '50ms' },
        logger: { info() {}, warn() {}, error() {} },
        observe: one => void seen.push(one),
      })
      const called = vi.fn()
      receiver.on('*', called)
      receiver.onDeadLetter(called)
      await receiver.start()
      await until('it is a dead letter', async () => (await receiver.stats()).dead === 1)
      expect(called).not.toHaveBeenCalled()
      expect(seen).toContainEqual(expect.objectContaining({ kind: 'dead_lettered', attempt: 5 }))
      const [letter] = await receiver.deadLetters.list()
      expect(letter?.reason).toMatch(/in every call of onDeadLetter for it/)
      await receiver.close()
    }))

  it('is left alone by a process that only receives', () =>
    withFolder(async folder => {
      const path = join(folder, 'inbox.db')
      await leaveBehind(path, FIFTH_CRASH)
      const web = sqliteInbox({ path, poll: '20ms' })
      const { attempts, seen } = await gather(web, () => DEAD, { concurrency: 0 })
      for (let index = 0; index < 20; index++) await web.accept(newDelivery())
      expect(await web.stats()).toMatchObject({ active: 1, pending: 20, dead: 0 })
      expect([...attempts, ...seen]).toEqual([])
      await web.close(1000)
    }))
})

/** Leaves the row of a dead process, with `columns`. */
async function leaveBehind(path: string, columns: string): Promise<void> {
  const gone = sqliteInbox(path)
  await startInbox(gone, { concurrency: 0 })
  await gone.accept(newDelivery())
  await gone.close(0)
  const database = new DatabaseSync(path)
  database.exec(`UPDATE ackhook_events SET state = 1, ${columns}`)
  database.close()
}

/** Ends `inbox` as `kill -9` does: its leases remain, and no result is recorded any more. */
async function kill(path: string, inbox: Inbox): Promise<void> {
  const database = new DatabaseSync(path)
  database.exec("PRAGMA busy_timeout = 2000; UPDATE ackhook_events SET token = 'gone' WHERE state = 1")
  database.close()
  await inbox.close(0)
}

/** Keeps the file open, as another process would. */
async function openBeside(
  path: string,
): Promise<{ readonly database: InstanceType<typeof DatabaseSync>; close(): void }> {
  const inbox = sqliteInbox(path)
  await startInbox(inbox, { concurrency: 0 })
  await inbox.close(0)
  const database = new DatabaseSync(path)
  database.prepare('SELECT count(*) FROM ackhook_events').get()
  return { database, close: () => database.close() }
}

async function gather(
  inbox: Inbox,
  decide: () => AttemptResult | Promise<AttemptResult> = () => ({ outcome: 'completed' }),
  policy: Partial<ProcessingPolicy> = {},
) {
  const attempts: Attempt[] = []
  const { seen } = await startInbox(inbox, policy, async (_, attempt) => {
    attempts.push(attempt)
    return await decide()
  })
  return { attempts, seen }
}

describe('handled events of sqliteInbox', () => {
  /** Handles 600 events. Returns a function that counts a table's rows. */
  async function handled(folder: string, retentionMs: number) {
    const path = join(folder, 'inbox.db')
    const inbox = sqliteInbox({ path, poll: '20ms' })
    const { ran } = await startInbox(inbox, { retentionMs })
    await Promise.all(Array.from({ length: 600 }, async () => inbox.accept(newDelivery())))
    await until('all are handled', async () => {
      const { pending, active } = await inbox.stats()
      return pending + active === 0
    })
    expect(ran).toHaveLength(600)
    const database = new DatabaseSync(path)
    const rowsOf = (table: string) =>
      (database.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows
    const close = async () => {
      database.close()
      await inbox.close(1000)
    }
    return { rowsOf, close }
  }

  it('leave their id behind and nothing else', () =>
    withFolder(async folder => {
      const { rowsOf, close } = await handled(folder, 3_600_000)
      expect([rowsOf('ackhook_ids'), rowsOf('ackhook_events'), rowsOf('ackhook_bodies')]).toEqual([600, 0, 0])
      await close()
    }))

  // With such a short retention, the first id may be forgotten before the last event is handled.
  it('leave nothing behind once their retention has ended', () =>
    withFolder(async folder => {
      const { rowsOf, close } = await handled(folder, 1500)
      await until('they are forgotten', () => rowsOf('ackhook_ids') === 0)
      await close()
    }))
})

describe('a handler of sqliteInbox begins only under a lease that is known to hold', () => {
  /** Suspends the machine for this long between the take of the first event and its beginning. */
  async function suspended(
    folder: string,
    forMs: number,
    beforeNext: (database: Database) => void,
    clock: 'wall' | 'monotonic' = 'wall',
  ) {
    const path = join(folder, 'inbox.db')
    const other = new DatabaseSync(path)
    const [source, method] = clock === 'wall' ? ([Date, 'now'] as const) : ([performance, 'now'] as const)
    const now = source[method].bind(source)
    let offset = 0
    let transactions = 0
    let isTaken = false
    const spy = vi.spyOn(source, method).mockImplementation(() => now() + offset)
    const database = watchedDatabase(new DatabaseSync(path), {
      beforeRun(sql) {
        if (sql.startsWith('UPDATE ackhook_events SET') || sql.startsWith('INSERT INTO ackhook_events'))
          isTaken = true
        if (sql === 'BEGIN IMMEDIATE' && isTaken && transactions++ === 0) beforeNext(other)
        if (sql === 'COMMIT' && isTaken && offset === 0) offset = forMs
      },
    })
    const inbox = sqliteInbox({ database, lease: '60s', poll: '1h' })
    const started = await startInbox(inbox)
    await inbox.accept(newDelivery({ id: 'evt_suspended' }))
    return {
      ...started,
      inbox,
      async end() {
        await inbox.close(1000)
        spy.mockRestore()
        for (const one of [other, database]) one.close()
      },
    }
  }

  it('and not if another process has taken the event meanwhile', () =>
    withFolder(async folder => {
      let isTakenElsewhere = false
      const { inbox, ran, end } = await suspended(folder, 31_000, other => {
        other.exec("UPDATE ackhook_events SET token = 'other', due = due + 60000")
        isTakenElsewhere = true
      })
      await until('it is asked for', () => isTakenElsewhere)
      expect(await inbox.stats()).toMatchObject({ active: 1 })
      expect(ran).toEqual([])
      await end()
    }))

  it.each([
    [31_000, 'wall'],
    [31_000, 'monotonic'],
    [3_600_000, 'wall'],
    [3_600_000, 'monotonic'],
  ] as const)('after a renewal, if the lease still holds %i ms later by the %s clock', (forMs, clock) =>
    withFolder(async folder => {
      let renewals = 0
      const { ran, end } = await suspended(folder, forMs, () => renewals++, clock)
      await until('it runs', () => ran.length === 1)
      expect(renewals).toBe(1)
      await end()
    }),
  )
})

describe('a drain of sqliteInbox that ends before the handlers', () => {
  it('says so: the receiver reports the event as cut, and warns', () =>
    withFolder(async folder => {
      const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
      const receiver = createReceiver({
        secret: SECRET,
        inbox: sqliteInbox(join(folder, 'inbox.db')),
        logger,
      })
      const begun = vi.fn()
      receiver.on('*', () => {
        begun()
        return new Promise(() => {})
      })
      await receiver.start()
      const { status } = await receiver.handle(signedRequest(eventBody()))
      expect(status).toBe(202)
      await until('it runs', () => begun.mock.calls.length === 1)
      expect(await receiver.close({ timeout: '10ms' })).toEqual({ lost: 0, cut: 1 })
      expect(logger.warn).toHaveBeenCalledWith(
        expect.objectContaining({ code: 'drain_over', cut: 1 }),
        expect.stringContaining('before 1 of them had ended'),
      )
    }))
})
