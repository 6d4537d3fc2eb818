import { createReceiver, type Delivery, type Inbox, NonRetryableError, RetryAfterError } from '@ackhook/core'
import type { AttemptResult, ProcessEvent } from '@ackhook/core/spi'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ownTime } from '../../../test/support/own-time.ts'
import { eventBody, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { startSwitchingProxy } from '../../../test/support/switching-proxy.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const UNREADABLE = new Error('hidden')
for (const part of ['stack', 'name', 'message']) {
  Object.defineProperty(UNREADABLE, part, {
    get() {
      throw new Error(`no ${part}`)
    },
  })
}

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine
  const open: { close(timeoutMs: number): Promise<unknown> }[] = []

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())
  afterEach(async () => {
    await Promise.all(open.splice(0).map(one => one.close(2000)))
  })

  let letters: Inbox | undefined
  afterAll(() => letters?.close(2000))

  async function threeLetters(): Promise<Inbox> {
    const inbox = engine.inbox(unique('q'))
    await inbox.start(scripted({ outcome: 'dead', error: new Error('bad'), notified: false }), aPolicy())
    for (let i = 0; i < 3; i++) await inbox.accept(aDelivery())
    await until(async () => (await inbox.stats()).dead === 3)
    return inbox
  }

  function opened(queue: string, options = {}): Inbox {
    const inbox = engine.inbox(queue, options)
    open.push(inbox)
    return inbox
  }

  /** Runs one event, after this many crashes, with this result. */
  async function runAfterCrashes(crashes: number, result: AttemptResult) {
    const name = unique('q')
    const inbox = opened(name)
    const work = scripted(result)
    await inbox.start(work, aPolicy())
    const queue = engine.queue(name)
    open.push({ close: () => queue.close() })
    const delivery = aDelivery()
    const jobId = `e-${delivery.key}`
    await queue.pause()
    await inbox.accept(delivery)
    await engine.crash(name, jobId, crashes)
    await queue.resume()
    await until(() => work.runs.length === 1)
    return { inbox, queue, delivery, jobId, work }
  }

  test('an accepted event runs with its exact bytes', async () => {
    const inbox = opened(unique('q'))
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    const body = Uint8Array.from({ length: 256 }, (_, i) => i)
    const delivery = aDelivery({ body, namespace: 'tenant', type: 'call.started', fingerprint: -5 })
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 1)
    const { body: bytes, ...rest } = work.runs[0]!.delivery
    expect([...bytes]).toEqual([...body])
    const { body: _, ...sent } = delivery
    expect(rest).toEqual(sent)
  })

  test('a duplicate of a waiting or finished event is reported as one and does not run', async () => {
    const inbox = opened(unique('q'))
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    const answers = await Promise.all([1, 2, 3].map(() => inbox.accept(delivery)))
    expect(answers.map(answer => answer.outcome).sort()).toContain('accepted')
    await until(async () => (await inbox.stats()).pending + (await inbox.stats()).active === 0)
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'duplicate' })
    expect(await inbox.accept({ ...delivery, fingerprint: 18 })).toEqual({
      outcome: 'duplicate',
      conflict: true,
    })
    expect(work.runs.length).toBe(1)
  })

  test('a dead letter is kept with its reason, and a redelivery requeues it', async () => {
    const queue = unique('q')
    const inbox = opened(queue)
    const error = new NonRetryableError('no such customer')
    const work = scripted({ outcome: 'dead', error, notified: false }, COMPLETED)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    const letter = await inbox.deadLetters.get(delivery.key)
    expect(letter).toMatchObject({
      id: delivery.id,
      attempts: 1,
      reason: 'NonRetryableError: no such customer',
    })
    expect((await inbox.deadLetters.list()).map(one => one.key)).toEqual([delivery.key])

    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 2)
    expect(work.runs[1]).toMatchObject({ attempt: 1 })
    await until(async () => (await inbox.stats()).dead === 0)
  })

  test.each([
    ['an empty string', () => ''],
    ['an object without a text form', () => Object.create(null)],
    ['an error that cannot be read', () => UNREADABLE],
    ['a zero character', () => 'a\0b'],
    ['half of a surrogate pair', () => new Error('a\uD800b')],
  ])('an event whose handler threw %s is a dead letter like any other', async (_, thrown) => {
    const error = thrown()
    const inbox = opened(unique('q'))
    const work = scripted(
      { outcome: 'retry', delayMs: 1, error },
      { outcome: 'dead', error, notified: false },
      COMPLETED,
    )
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    expect(work.runs.map(({ attempt }) => attempt)).toEqual([1, 2])
    const [letter] = await inbox.deadLetters.list()
    expect(await inbox.deadLetters.get(delivery.key)).toEqual(letter)
    expect(letter).toMatchObject({ key: delivery.key, attempts: 2, reason: expect.stringMatching(/./) })
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length === 3)
  })

  test('events that arrive together each get their own result', async () => {
    const inbox = opened(unique('q'))
    const work = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
    await inbox.start(work, aPolicy({ concurrency: 1 }))
    const dead = aDelivery()
    await inbox.accept(dead)
    await until(async () => (await inbox.stats()).dead === 1)
    const known = aDelivery()
    await inbox.accept(known)
    await until(() => work.runs.length === 2)
    const fresh = [aDelivery(), aDelivery()]
    const together = [fresh[0]!, known, dead, { ...known, id: 'evt_x', key: 'key-x' }, fresh[1]!]
    const answers = await Promise.all(together.map(delivery => inbox.accept(delivery)))
    expect(answers.map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'duplicate',
      'accepted',
      'accepted',
      'accepted',
    ])
    await until(() => work.runs.length === 6)
    expect(work.runs.slice(2).map(({ delivery }) => delivery.id)).toEqual(
      expect.arrayContaining([fresh[0]!.id, dead.id, 'evt_x', fresh[1]!.id]),
    )
  })

  test.each([3, 20])(
    'of %d events that arrive together, only the one that cannot be stored fails',
    async count => {
      const inbox = opened(unique('q'))
      await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
      const deliveries = Array.from({ length: count }, () => aDelivery())
      // PostgreSQL stores no zero character. Redis does.
      deliveries[1] = aDelivery({ namespace: '\0' })
      // A sender repeats a delivery that a slow machine did not respond in time, although it may be stored.
      const outcomeOf = async (delivery: Delivery): Promise<string> => {
        const answer = await inbox.accept(delivery)
        const isLate = answer.outcome === 'unavailable' && /did not respond within/.test(String(answer.cause))
        if (isLate) return outcomeOf(delivery)
        return answer.outcome === 'duplicate' ? 'accepted' : answer.outcome
      }
      const outcomes = await Promise.all(deliveries.map(outcomeOf))
      const [refused] = outcomes.splice(1, 1)
      expect(refused).toBe(engine.name === 'Redis' ? 'accepted' : 'unavailable')
      expect(new Set(outcomes)).toEqual(new Set(['accepted']))
      const stored = engine.name === 'Redis' ? count : count - 1
      await until(async () => (await inbox.stats()).pending === stored)
    },
  )

  test('an event that stalled before it died has no crashes counted afterwards, even if redelivered', async () => {
    const dead = { outcome: 'dead', error: new Error('bad'), notified: false } as const
    const { inbox, queue, delivery, jobId, work } = await runAfterCrashes(4, dead)
    await until(async () => (await inbox.stats()).dead === 1)
    expect((await queue.getJob(jobId))?.stalledCounter).toBe(0)

    // As if the server was gone when the count should have been reset.
    await engine.crash(queue.name, jobId, 11)
    await inbox.accept(delivery)
    await until(() => work.runs.length === 2)
    expect(work.runs.map(({ decision }) => decision)).toEqual(['run', 'run'])
  })

  test('a failed attempt resets the crash count', async () => {
    const { queue, jobId, work } = await runAfterCrashes(4, {
      outcome: 'retry',
      delayMs: 60_000,
      error: new Error('bad'),
    })
    await until(async () => (await queue.getDelayedCount()) === 1)
    expect(work.runs).toMatchObject([{ attempt: 1, decision: 'run' }])
    expect(await queue.getJob(jobId)).toMatchObject({ stalledCounter: 0, attemptsMade: 1 })
  })

  test('a postponed event keeps its crash count', async () => {
    const { queue, jobId, work } = await runAfterCrashes(4, {
      outcome: 'postponed',
      delayMs: 60_000,
      routingToken: 1,
    })
    await until(async () => (await queue.getDelayedCount()) === 1)
    expect(work.runs).toMatchObject([{ attempt: 1, decision: 'run' }])
    expect(await queue.getJob(jobId)).toMatchObject({ stalledCounter: 4, attemptsMade: 0 })
  })

  test.each([
    [5, 'abandon'],
    [7, 'abandon'],
    [8, 'dead-letter'],
  ])('after %d crashes in a row the decision is to %s', async (crashes, decision) => {
    const error = new Error('bad')
    const { queue, jobId, work } = await runAfterCrashes(crashes, { outcome: 'dead', error, notified: false })
    await until(async () => (await queue.getFailedCount()) === 1)
    expect(work.runs).toMatchObject([{ attempt: 1, decision }])
    expect(await queue.getJob(jobId)).toMatchObject({ stalledCounter: 0, attemptsMade: 1 })
  })

  test('a dead letter redelivered with other bytes runs with those', async () => {
    const inbox = opened(unique('q'))
    const work = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    await inbox.accept({ ...delivery, body: Buffer.from('corrected'), fingerprint: 99 })
    await until(() => work.runs.length === 2)
    expect(Buffer.from(work.runs[1]!.delivery.body).toString()).toBe('corrected')
  })

  test('a dead letter that was not text runs with the text of its redelivery', async () => {
    const inbox = opened(unique('q'))
    const work = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery({ body: Uint8Array.of(0x7b, 0xff, 0x7d) })
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    const corrected = { ...delivery, body: Buffer.from('{"name":"é"}'), fingerprint: 99 }
    expect(await inbox.accept(corrected)).toEqual({ outcome: 'accepted', conflict: true })
    await until(() => work.runs.length === 2)
    expect(Buffer.from(work.runs[1]!.delivery.body).toString()).toBe('{"name":"é"}')
  })

  test.each(['redriven', 'delivered again'])(
    'the waiting time of a dead letter starts again when it is %s',
    async how => {
      const inbox = opened(unique('q'))
      const work = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
      let finish!: () => void
      const gate = new Promise<void>(resolve => {
        finish = resolve
      })
      await inbox.start(async (delivery, attempt) => {
        const result = await work(delivery, attempt)
        if (work.runs.length === 2) await gate
        return result
      }, aPolicy())
      const delivery = aDelivery()
      const acceptedAt = performance.now()
      await inbox.accept(delivery)
      await until(async () => (await inbox.stats()).dead === 1)
      await until(() => performance.now() - acceptedAt > 1000)
      const requeuedAt = performance.now()
      if (how === 'redriven') await inbox.deadLetters.redrive(delivery.key)
      else await inbox.accept(delivery)
      await until(() => work.runs.length === 2)
      const { active, oldestPendingMs } = await inbox.stats()
      finish()
      expect(active).toBe(1)
      expect(oldestPendingMs).toBeLessThanOrEqual(performance.now() - requeuedAt + 1)
    },
  )

  test('a hundred concurrent redeliveries requeue a dead letter once', async () => {
    const inbox = opened(unique('q'))
    const work = scripted({ outcome: 'dead', error: new Error('bad'), notified: false }, COMPLETED)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    const answers = await Promise.all(Array.from({ length: 100 }, () => inbox.accept(delivery)))
    expect(answers.every(({ outcome }) => outcome === 'accepted' || outcome === 'duplicate')).toBe(true)
    await until(async () => (await inbox.stats()).pending + (await inbox.stats()).active === 0)
    expect(work.runs.length).toBe(2)
  })

  test('the retry of a failed attempt waits for the delay in its result', async () => {
    const inbox = opened(unique('q'))
    const error = new RetryAfterError('busy', '400ms')
    const work = scripted({ outcome: 'retry', delayMs: 400, error }, COMPLETED)
    const times: number[] = []
    await inbox.start((delivery, attempt) => {
      times.push(performance.now())
      return work(delivery, attempt)
    }, aPolicy())
    await inbox.accept(aDelivery())
    await until(() => work.runs.length === 2)
    expect(work.runs.map(run => run.attempt)).toEqual([1, 2])
    expect(times[1]! - times[0]!).toBeGreaterThan(390)
  })

  test('an event waits for a delay with a fraction of a millisecond, and blocks no other event', async () => {
    const receiver = createReceiver({ secret: SECRET, inbox: opened(unique('q')), concurrency: 1 })
    const ran: string[] = []
    receiver.on('*', ({ id }) => {
      ran.push(id)
      if (id === 'evt_1') throw new RetryAfterError('busy', '64.57s')
    })
    receiver.onError(() => {})
    await receiver.start()
    for (const id of ['evt_1', 'evt_2']) {
      const reply = await receiver.handle(signedRequest(eventBody({ id })))
      expect(reply.status).toBe(202)
      await until(() => ran.includes(id))
    }
    await until(async () => (await receiver.stats()).active === 0)
    expect(await receiver.stats()).toMatchObject({ pending: 1, dead: 0 })
    await receiver.close()
  })

  test('the failure of an attempt is readable in BullMQ, whatever the handler threw', async () => {
    const name = unique('q')
    const inbox = opened(name)
    const thrown = Object.assign(new Error('bullmq:rateLimitExceeded'), { name: 'DelayedError' })
    await inbox.start(scripted({ outcome: 'retry', delayMs: 60_000, error: thrown }), aPolicy())
    const delivery = aDelivery({ type: 'message.failed' })
    await inbox.accept(delivery)
    const queue = engine.queue(name)
    open.push({ close: () => queue.close() })
    await until(async () => (await queue.getDelayedCount()) === 1)
    const [job] = await queue.getDelayed()
    expect(job).toMatchObject({ name: 'message.failed', data: { id: delivery.id }, attemptsMade: 1 })
    expect(job!.failedReason).toBe('DelayedError: bullmq:rateLimitExceeded')
  })

  test("the worker's limit on attempts applies, not that of the process that accepted the event", async () => {
    const name = unique('q')
    const web = opened(name)
    const worker = opened(name)
    await web.start(
      scripted(COMPLETED),
      aPolicy({ concurrency: 0, retry: { ...aPolicy().retry, attempts: 1 } }),
    )
    const work = scripted({ outcome: 'retry', delayMs: 1, error: new Error('again') }, COMPLETED)
    await worker.start(work, aPolicy())
    await web.accept(aDelivery())
    await until(() => work.runs.length === 2)
  })

  test('a process that only receives runs no event, and a process that only works runs it', async () => {
    const name = unique('q')
    const web = opened(name)
    const idle = scripted(COMPLETED)
    await web.start(idle, aPolicy({ concurrency: 0 }))
    await web.accept(aDelivery())
    expect(await web.stats()).toMatchObject({ pending: 1, active: 0, dead: 0 })
    const worker = opened(name)
    const work = scripted(COMPLETED)
    await worker.start(work, aPolicy())
    await until(() => work.runs.length === 1)
    expect(idle.runs).toEqual([])
  })

  test('redrive runs a dead letter again, discard removes it', async () => {
    const inbox = opened(unique('q'))
    const dead = { outcome: 'dead', error: new Error('bad'), notified: false } as const
    const work = scripted(dead)
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    await until(async () => (await inbox.stats()).dead === 1)
    expect(await inbox.deadLetters.redrive('unknown')).toBe(false)
    expect(await inbox.deadLetters.redrive(delivery.key)).toBe(true)
    await until(async () => work.runs.length === 2 && (await inbox.stats()).dead === 1)
    expect(work.runs[1]).toMatchObject({ attempt: 1 })
    expect(await inbox.deadLetters.discard(delivery.key)).toBe(true)
    expect(await inbox.deadLetters.discard(delivery.key)).toBe(false)
    expect(await inbox.deadLetters.list()).toEqual([])
    expect(await inbox.accept(delivery)).toEqual({ outcome: 'accepted' })
  })

  test.each([
    [2, 2],
    [2.5, 2],
    [0.5, 0],
    [-1, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 3],
    [undefined, 3],
  ])('with the limit %s, a list of three dead letters has %d', async (limit, count) => {
    letters ??= await threeLetters()
    expect(await letters.deadLetters.list(limit === undefined ? {} : { limit })).toHaveLength(count)
  })

  test('events beyond the capacity are refused until there is room', async () => {
    const inbox = opened(unique('q'))
    let release!: () => void
    const gate = new Promise<void>(resolve => {
      release = resolve
    })
    await inbox.start(
      async () => {
        await gate
        return COMPLETED
      },
      aPolicy({ capacity: 10 }),
    )
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, async () => (await inbox.accept(aDelivery())).outcome),
    )
    expect(outcomes.filter(outcome => outcome === 'accepted').length).toBe(10)
    expect(outcomes.filter(outcome => outcome === 'full').length).toBe(20)
    release()
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
  })

  test('one process stays within its capacity while it counts and adds at the same time', async () => {
    const inbox = opened(unique('q'))
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0, capacity: 100 }))
    let accepted = 0
    // Each sender repeats after its reply, so some deliveries are always in progress during a count.
    const senders = Array.from({ length: 40 }, async () => {
      for (let i = 0; i < 10; i++) {
        if ((await inbox.accept(aDelivery())).outcome === 'accepted') accepted++
      }
    })
    await Promise.all(senders)
    expect(accepted).toBeLessThanOrEqual(100)
    await until(async () => {
      if ((await inbox.accept(aDelivery())).outcome === 'accepted') accepted++
      return accepted === 100
    })
    expect((await inbox.accept(aDelivery())).outcome).toBe('full')
    expect((await inbox.stats()).pending).toBe(100)
  })

  test('a full queue looks up a few deliveries at a time, and refuses the others immediately', async () => {
    const inbox = opened(unique('q'))
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0, capacity: 1 }))
    const safe = aDelivery()
    expect((await inbox.accept(safe)).outcome).toBe('accepted')
    // The count is now old. The next delivery repeats it, and for those after it the count is fresh.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000)
    onTestFinished(() => clock.mockRestore())
    expect((await inbox.accept(aDelivery())).outcome).toBe('full')
    const answers = Array.from({ length: 200 }, () => inbox.accept(aDelivery()))
    expect(answers.filter(answer => answer instanceof Promise)).toHaveLength(64)
    expect(answers.filter(answer => !(answer instanceof Promise))).toEqual(
      Array(136).fill({ outcome: 'full' }),
    )
    expect(await Promise.all(answers)).toEqual(Array(200).fill({ outcome: 'full' }))
    expect(await inbox.accept(safe)).toEqual({ outcome: 'duplicate' })
  })

  test('running events and events that wait for a retry use capacity, handled ones do not', async () => {
    const inbox = opened(unique('q'))
    const work: ProcessEvent = async ({ type }, attempt) => {
      if (type === 'a.retried') return { outcome: 'retry', delayMs: 60_000, error: new Error('later') }
      if (type === 'a.running') await new Promise<void>(resolve => attempt.onAbort(() => resolve()))
      return COMPLETED
    }
    await inbox.start(work, aPolicy({ capacity: 3 }))
    const accept = async (type: string) => (await inbox.accept(aDelivery({ type }))).outcome
    const stats = () => inbox.stats()
    expect(await Promise.all([accept('a.handled'), accept('a.retried'), accept('a.running')])).toEqual(
      Array(3).fill('accepted'),
    )
    await until(async () => (await stats()).pending === 1 && (await stats()).active === 1)
    // The queue is counted again only when it seems full, and then every 50 ms.
    await until(async () => (await accept('a.retried')) === 'accepted')
    await until(async () => (await stats()).pending === 2)
    await new Promise(resolve => setTimeout(resolve, 60))
    expect(await accept('a.handled')).toBe('full')
  })

  test('a drain that runs out of time returns the running event without using up its attempt', async () => {
    const name = unique('q')
    const first = opened(name)
    let begun = false
    await first.start(async (_, attempt) => {
      begun = true
      await new Promise<void>(resolve => attempt.onAbort(() => resolve()))
      return { outcome: 'retry', delayMs: 60_000, error: new Error('drained') }
    }, aPolicy())
    await first.accept(aDelivery())
    await until(() => begun)
    const { value, ms } = await ownTime(() => first.close(200))
    expect(value).toEqual({ lost: 0 })
    expect(ms).toBeLessThan(4000)
    const second = opened(name)
    const work = scripted(COMPLETED)
    await second.start(work, aPolicy())
    await until(() => work.runs.length === 1)
    expect(work.runs[0]).toMatchObject({ attempt: 1 })
  })

  test('a rate limit applies to all workers together', async () => {
    const name = unique('q')
    const rateLimit = { events: 1, per: '300ms' } as const
    const times: number[] = []
    for (let i = 0; i < 2; i++) {
      const worker = opened(name, { rateLimit })
      await worker.start(async () => {
        times.push(performance.now())
        return COMPLETED
      }, aPolicy())
      await worker.accept(aDelivery())
      await worker.accept(aDelivery())
    }
    await until(() => times.length === 4)
    expect(times[3]! - times[0]!).toBeGreaterThan(800)
  })

  test('stats report the age of the oldest event', async () => {
    const inbox = opened(unique('q'))
    await inbox.start(scripted(COMPLETED), aPolicy({ concurrency: 0 }))
    expect(await inbox.stats()).toMatchObject({
      pending: 0,
      active: 0,
      dead: 0,
      oldestPendingMs: 0,
      retrying: 0,
      oldestUntriedMs: 0,
    })
    await inbox.accept(aDelivery())
    await new Promise(resolve => setTimeout(resolve, 30))
    await inbox.accept(aDelivery())
    const { pending, oldestPendingMs, oldestUntriedMs, retrying } = await inbox.stats()
    expect([pending, retrying]).toEqual([2, 0])
    expect(oldestPendingMs).toBeGreaterThanOrEqual(30)
    expect(oldestUntriedMs).toBeGreaterThanOrEqual(30)
  })

  test('stats tell an event that waits for a retry from one that never ran', async () => {
    const inbox = opened(unique('q'))
    await inbox.start(scripted({ outcome: 'retry', delayMs: 60_000, error: new Error('no') }), aPolicy())
    await inbox.accept(aDelivery())
    await until(async () => (await inbox.stats()).retrying === 1)
    expect(await inbox.stats()).toMatchObject({ pending: 1, active: 0, oldestUntriedMs: 0 })
  })

  test('a start succeeds with a server on another continent, 200 ms away', async () => {
    const proxy = await startSwitchingProxy(engine.port, { delayMs: 100 })
    const inbox = engine.inbox(unique('q'), engine.optionsAt(proxy.port))
    open.push({ close: timeoutMs => inbox.close(timeoutMs).then(() => proxy.stop()) })
    const work = scripted(COMPLETED)
    await inbox.start(work, aPolicy())
    // A new connection may take as long as the second that a delivery waits.
    await until(async () => (await inbox.accept(aDelivery())).outcome === 'accepted')
    await until(() => work.runs.length > 0)
  })

  test('a tool finds a queue whose version BullMQ could not write, and reports one that never existed', async () => {
    const name = unique('q')
    const queue = engine.queue(name, { skipMetasUpdate: true })
    open.push({ close: () => queue.close() })
    await queue.add('mine', {})
    const tool = engine.inbox(name, { create: false })
    open.push({ close: () => tool.close(0) })
    expect(await tool.stats()).toMatchObject({ pending: 1 })
    const other = engine.inbox(unique('q'), { create: false })
    open.push({ close: () => other.close(0) })
    await expect(other.stats()).rejects.toThrow("Option 'queue': there is no queue")
  })

  test('stats count the waiting events of a queue that a dashboard has paused', async () => {
    const name = unique('q')
    const inbox = opened(name)
    const queue = engine.queue(name)
    open.push({ close: () => queue.close() })
    // Paused before the start: on PostgreSQL a worker that asked just before a pause may still get the next event.
    await queue.pause()
    await inbox.start(scripted(COMPLETED), aPolicy())
    await inbox.accept(aDelivery({ receivedAt: Date.now() }))
    await until(async () => (await inbox.stats()).oldestPendingMs > 20)
    expect(await inbox.stats()).toMatchObject({ pending: 1, active: 0 })
    await queue.resume()
    await until(async () => (await inbox.stats()).pending === 0)
  })
})
