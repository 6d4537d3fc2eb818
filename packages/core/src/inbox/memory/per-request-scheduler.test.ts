import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createReceiver } from '../../receiver/create-receiver.ts'
import type { AcceptResult } from '../accept-result.ts'
import type { Attempt } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { AttemptResult, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import { NO_DELIVERY } from './entry.ts'
import { memoryInbox } from './memory-inbox.ts'

const policy: ProcessingPolicy = {
  acknowledge: 'immediately',
  concurrency: 2,
  capacity: 100,
  handlerTimeoutMs: 10_000,
  retry: { attempts: 5, minDelayMs: 1000, maxDelayMs: 1000, factor: 1 },
  retentionMs: 60_000,
  serialize: false,
  clock: Date.now,
  observe() {},
  logger: { info() {}, warn() {}, error() {} },
}
const REQUEST_ENDED = 'The request that ran this event ended before its handlers did.'
const FULL: AcceptResult = { outcome: 'full', detail: 'the concurrency limit is reached' }
const COMPLETED: AttemptResult = { outcome: 'completed' }
const RETRY: AttemptResult = { outcome: 'retry', delayMs: 1000, error: new Error('not now') }
const DEAD: AttemptResult = { outcome: 'dead', error: new Error('no use'), notified: true }

/** Inbox whose attempts end when the test says so, or never, as if their request were gone. */
function working(more: Partial<ProcessingPolicy> = {}) {
  const inbox = memoryInbox()
  const runs: (Pick<Attempt, 'number' | 'decision'> & {
    id: string
    abandonReason?: string
    end: (result: AttemptResult) => void
  })[] = []
  const run: ProcessEvent = ({ id }, { number, decision, abandonReason }) => {
    if (decision === 'abandon') {
      runs.push({ id, number, decision, abandonReason, end() {} })
      return DEAD
    }
    return new Promise(end => runs.push({ id, number, decision, end }))
  }
  void inbox.start(run, { ...policy, ...more })
  return {
    inbox,
    runs,
    accept: (id: string, parts: Partial<Delivery> = {}) =>
      inbox.accept({ ...NO_DELIVERY, key: id, id, ...parts }) as AcceptResult,
    ids: () => runs.map(run => run.id),
  }
}
const turn = () => vi.advanceTimersByTimeAsync(0)

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('starts an attempt before anything else can use its request’s turn', async () => {
  const { accept, ids } = working()
  expect(accept('a')).toEqual({ outcome: 'accepted' })
  expect(ids()).toEqual([])
  await Promise.resolve()
  expect(ids()).toEqual(['a'])
})

it('leaves an event that it cannot start with the sender, and starts nothing when an attempt ends', async () => {
  const { accept, runs, ids, inbox } = working()
  for (const id of ['a', 'b']) accept(id)
  expect(accept('c')).toEqual(FULL)
  expect(accept('a')).toEqual({ outcome: 'duplicate' })
  await turn()
  runs[0]?.end(COMPLETED)
  await turn()
  expect(ids()).toEqual(['a', 'b'])
  expect(accept('c')).toEqual({ outcome: 'accepted' })
  await turn()
  expect(ids()).toEqual(['a', 'b', 'c'])
  expect(inbox.stats()).toMatchObject({ active: 2, pending: 0 })
})

it('leaves an event whose key is taken with its sender, even while the key’s holder waits for a retry', async () => {
  const { accept, runs, ids } = working({ serialize: true })
  const order = { key: 'k', createdAt: 1 }
  const soon = { outcome: 'in_flight', retryAfterMs: 1000 }
  accept('a', { order })
  expect(accept('b', { order })).toEqual(soon)
  expect(accept('c')).toEqual({ outcome: 'accepted' })
  await turn()
  runs[0]?.end(RETRY)
  await turn()
  expect(accept('b', { order })).toEqual(soon)
  await vi.advanceTimersByTimeAsync(1000)
  expect(ids()).toEqual(['a', 'c', 'a'])
  runs[2]?.end(COMPLETED)
  await turn()
  expect(accept('b', { order })).toEqual({ outcome: 'accepted' })
})

it('retries by a timer of the same request, once there is room', async () => {
  const { accept, runs, ids, inbox } = working()
  accept('a')
  await turn()
  runs[0]?.end(RETRY)
  await turn()
  for (const id of ['b', 'c']) accept(id)
  await vi.advanceTimersByTimeAsync(2000)
  expect(ids()).toEqual(['a', 'b', 'c'])
  expect(inbox.stats()).toMatchObject({ active: 2, pending: 1 })
  runs[1]?.end(COMPLETED)
  await vi.advanceTimersByTimeAsync(100)
  expect(runs.at(-1)).toMatchObject({ id: 'a', number: 2 })
})

it('recognizes a duplicate of a handled event even without room', async () => {
  const { accept, runs } = working()
  accept('handled')
  await turn()
  runs[0]?.end(COMPLETED)
  await turn()
  for (const id of ['a', 'b']) accept(id)
  expect(accept('c')).toEqual(FULL)
  expect(accept('handled')).toEqual({ outcome: 'duplicate' })
})

it('has room again once attempts are past their time limit, even without a result', async () => {
  const { accept } = working()
  for (const id of ['a', 'b']) accept(id)
  await vi.advanceTimersByTimeAsync(10_900)
  expect(accept('c')).toEqual(FULL)
  await vi.advanceTimersByTimeAsync(1200)
  for (const id of ['c', 'd']) expect(accept(id)).toEqual({ outcome: 'accepted' })
  expect(accept('e')).toEqual(FULL)
})

it('applies a late result and retries as usual', async () => {
  const { accept, runs, ids } = working()
  for (const id of ['a', 'b']) accept(id)
  await vi.advanceTimersByTimeAsync(15_000)
  accept('c')
  await turn()
  runs[0]?.end(RETRY)
  await vi.advanceTimersByTimeAsync(1000)
  expect(ids()).toEqual(['a', 'b', 'c', 'a'])
})

it('abandons an event that is overdue, reports it, and runs its redelivery', async () => {
  const { accept, runs, inbox } = working({ serialize: true })
  const order = { key: 'k', createdAt: 1 }
  accept('a', { order })
  await vi.advanceTimersByTimeAsync(22_001)
  const waits: Promise<unknown>[] = []
  expect(accept('b', { order, waitUntil: work => waits.push(work) })).toEqual({ outcome: 'accepted' })
  await turn()
  expect(runs.map(({ id, number, decision }) => [id, number, decision])).toEqual([
    ['a', 1, 'run'],
    ['a', 1, 'abandon'],
    ['b', 1, 'run'],
  ])
  expect(waits).toHaveLength(2)
  expect(inbox.deadLetters.get('a')).toMatchObject({
    attempts: 1,
    reason: expect.stringContaining(REQUEST_ENDED),
  })
  expect(runs[1]?.abandonReason).toBe(REQUEST_ENDED)
  expect(accept('a')).toEqual({ outcome: 'accepted' })
  expect(inbox.deadLetters.get('a')).toBeUndefined()
})

it('does not abandon an event that waits for a late retry', async () => {
  const { accept, runs, ids } = working()
  accept('a')
  await turn()
  runs[0]?.end({ ...RETRY, delayMs: 100_000 })
  await vi.advanceTimersByTimeAsync(99_000)
  expect(accept('a')).toEqual({ outcome: 'duplicate' })
  await vi.advanceTimersByTimeAsync(1000)
  expect(ids()).toEqual(['a', 'a'])
})

it('returns an unacknowledged event whose request is gone to its sender, and keeps no dead letter', async () => {
  const { accept, inbox, runs } = working({ acknowledge: 'after-processing' })
  const reply = accept('a')
  expect(accept('a')).toEqual({ outcome: 'in_flight', retryAfterMs: 1000 })
  await vi.advanceTimersByTimeAsync(22_001)
  void accept('a')
  await turn()
  expect(await reply).toMatchObject({ outcome: 'failed' })
  expect(runs.map(({ id, number }) => [id, number])).toEqual([
    ['a', 1],
    ['a', 1],
  ])
  expect(inbox.deadLetters.list()).toEqual([])
})

it('warns once on Workers that handlers may end with the reply, even with waitUntil', () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
  onTestFinished(() => void vi.unstubAllGlobals())
  const warn = vi.fn()
  const { accept } = working({ logger: { ...policy.logger, warn } })
  accept('one', { waitUntil() {} })
  accept('two', { waitUntil() {} })
  expect(warn.mock.calls.map(([{ code }, text]) => [code, text])).toEqual([
    [
      'host_freezes',
      expect.stringMatching(/^Cloudflare Workers end handlers 30 seconds after the reply, even with/),
    ],
  ])
})

it('refuses pauses and shared slots with a reason: nothing queues here', () => {
  const inbox = memoryInbox()
  expect(inbox.handling).toBeUndefined()
  expect(inbox.cannotPause).toMatch(/cannot queue.*cloudflareQueueInbox/)
  const secret = 'a secret of some bytes'
  expect(() => createReceiver({ secret, inbox, concurrency: { perType: 1 } })).toThrow(
    /concurrency.perType.*cannot queue/,
  )
})
