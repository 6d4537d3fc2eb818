import type { Attempt } from '@ackhook/core/spi'
import { expectEqual, expectThat, pause } from '../../lib/expect.ts'
import { until } from '../../lib/until.ts'
import { COMPLETED, DEAD, inboxCase, retryIn } from '../harness.ts'
import { makeDelivery } from '../make-delivery.ts'
import type { InboxCase } from '../target.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer than a tested inbox's polling interval. */
const POLLED_MS = 700

export const clockCases: readonly InboxCase[] = [
  inboxCase(
    'skew-ahead',
    'a process whose clock is an hour ahead takes no event that runs elsewhere',
    async ({ start, startSkewed }) => {
      const harness = await start({ manual: true })
      await harness.accept(makeDelivery())
      const run = await harness.run(0)
      const ahead = await startSkewed(HOUR_MS)
      await pause(POLLED_MS)
      expectEqual(ahead.runs.length, 0, 'attempts in the process that is ahead')
      expectEqual(run.attempt.signal.aborted, false, 'whether the attempt was withdrawn')
      run.finish()
    },
    ['skew', 'shared'],
  ),

  inboxCase(
    'skew-behind',
    'no event is taken from a process whose clock is an hour behind',
    async ({ start, startSkewed }) => {
      const behind = await startSkewed(-HOUR_MS, { manual: true })
      await behind.accept(makeDelivery())
      const run = await behind.run(0)
      const harness = await start({ decide: () => COMPLETED })
      await pause(POLLED_MS)
      expectEqual(harness.runs.length, 0, 'attempts in the other process')
      expectEqual(run.attempt.signal.aborted, false, 'whether the attempt was withdrawn')
      run.finish()
    },
    ['skew', 'shared'],
  ),

  inboxCase(
    'skew-accepted',
    'an event accepted by a process with a wrong clock runs immediately in another',
    async ({ start, startSkewed }) => {
      const harness = await start()
      for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
        const skewed = await startSkewed(aheadMs, { concurrency: 0 })
        const runs = harness.runs.length
        expectEqual((await skewed.accept(makeDelivery())).outcome, 'accepted', 'the result')
        await harness.run(runs)
      }
    },
    ['skew', 'shared'],
  ),

  retryCase('skew-retry-ahead', HOUR_MS),
  retryCase('skew-retry-behind', -HOUR_MS),
  retentionCase('skew-retention-ahead', HOUR_MS),
  retentionCase('skew-retention-behind', -HOUR_MS),
  letterCase('skew-letters-ahead', 31 * DAY_MS),
  letterCase('skew-letters-behind', -31 * DAY_MS),
]

/** Longer than `dropOldLetters` waits before its first look. */
const LOOKED_MS = 2500

function letterCase(id: string, aheadMs: number): InboxCase {
  return inboxCase(
    id,
    `no dead letter is dropped before its retention if the clock of a process is 31 days ${aheadMs > 0 ? 'ahead' : 'behind'}`,
    async ({ start, startSkewed }) => {
      const options = { decide: () => DEAD, deadLetterRetentionMs: 30 * DAY_MS }
      const right = await start(options)
      await right.accept(makeDelivery())
      await until(async () => (await right.inbox.stats()).dead === 1, 'the event is a dead letter')
      await right.inbox.close(1000)
      const skewed = await startSkewed(aheadMs, options)
      await skewed.accept(makeDelivery())
      await until(async () => (await skewed.inbox.stats()).dead > 0, 'an event dies in the other process')
      const next = await start({ ...options, concurrency: 0 })
      await pause(LOOKED_MS)
      expectEqual((await next.inbox.stats()).dead, 2, 'dead letters')
      const dropped = [...skewed.observed, ...next.observed].filter(({ kind }) => kind === 'dropped')
      expectEqual(dropped, [], 'the observations')
      const now = (await next.inbox.deadLetters.now?.()) ?? Number.NaN
      for (const { failedAt } of await next.inbox.deadLetters.list())
        expectThat(Math.abs(now - failedAt) < HOUR_MS, `a letter failed ${now - failedAt} ms ago`)
    },
    ['skew', 'shared', 'drops'],
  )
}

function retryCase(id: string, aheadMs: number): InboxCase {
  return inboxCase(
    id,
    `a retry waits for its delay in a process whose clock is an hour ${aheadMs > 0 ? 'ahead' : 'behind'}`,
    async ({ startSkewed }) => {
      const decide = (_: unknown, { number }: Attempt) => (number === 1 ? retryIn(1000) : COMPLETED)
      const skewed = await startSkewed(aheadMs, { decide })
      await skewed.accept(makeDelivery())
      const [first, second] = [await skewed.run(0), await skewed.run(1)]
      const waitedMs = second.startedAt - first.startedAt
      expectThat(waitedMs >= 900, `it waited ${waitedMs.toFixed()} ms instead of 1000`)
    },
    ['skew', 'shared'],
  )
}

function retentionCase(id: string, aheadMs: number): InboxCase {
  return inboxCase(
    id,
    `all processes remember an id for its retention if a process an hour ${aheadMs > 0 ? 'ahead' : 'behind'} handled it`,
    async ({ start, startSkewed }) => {
      const retentionMs = HOUR_MS / 2
      const handling = await startSkewed(aheadMs, { retentionMs })
      const deliveries = [makeDelivery(), makeDelivery()]
      for (const [index, delivery] of deliveries.entries()) {
        await handling.accept(delivery)
        await handling.run(index)
        await until(async () => (await handling.inbox.stats()).active === 0, 'it is handled')
      }
      const options = { retentionMs, concurrency: 0 }
      for (const other of [await start(options), await startSkewed(HOUR_MS, options)])
        for (const delivery of deliveries)
          expectEqual((await other.accept(delivery)).outcome, 'duplicate', 'the result in another process')
    },
    ['skew', 'shared'],
  )
}
