import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  eventBody,
  recordingLogger,
  SECRET,
  sign,
  signedRequest,
  watch,
} from '../../../../test/support/receiving.ts'
import type { AcceptResult } from '../inbox/accept-result.ts'
import { ABORT, createAttempt } from '../inbox/attempt.ts'
import type { Inbox, InboxStats, ProcessEvent, ProcessingPolicy } from '../inbox/inbox.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { createReceiver } from '../receiver/create-receiver.ts'

/** Situations that a receiver's log reports to an operator, each with its level, cause and remedy. */
const EMPTY: InboxStats = { pending: 0, active: 0, dead: 0, oldestPendingMs: 0 }

/** Durable inbox with chosen results. `run` passes it an event as its engine would. */
function durableInbox(answers: {
  accept?: () => AcceptResult
  stats?: () => MaybePromise<InboxStats>
  redriveCommand?: NonNullable<Inbox['redriveCommand']>
}) {
  let process: ProcessEvent
  const inbox: Inbox = {
    durable: true,
    location: 'file /data/webhooks.db',
    accept: () => ({ outcome: 'accepted' }),
    start(run) {
      process = run
    },
    close: async () => ({ lost: 0 }),
    stats: () => EMPTY,
    deadLetters: { list: () => [], get: () => undefined, redrive: () => false, discard: () => false },
    forget: () => false,
    ...answers,
  }
  const delivery = {
    key: 'k',
    namespace: 'acme',
    id: 'evt_1',
    type: 'a.b',
    body: new Uint8Array(Buffer.from(eventBody({ type: 'a.b' }))),
    fingerprint: 1,
    receivedAt: 0,
  }
  return { inbox, run: (attempt = 1) => process(delivery, createAttempt(attempt)) }
}

function codes({ lines }: ReturnType<typeof recordingLogger>): string[] {
  return lines.map(({ level, fields }) => `${level} ${fields['code']}`)
}

afterEach(() => {
  vi.useRealTimers()
})

describe('a store or an inbox that is down', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })

  it('is one error, and one line once a delivery is accepted again', async () => {
    let answer: AcceptResult = { outcome: 'accepted' }
    const { inbox } = durableInbox({ accept: () => answer })
    const { logger, send } = watch({ inbox, concurrency: 0 })
    await send()
    answer = { outcome: 'unavailable', code: 'inbox_unavailable', cause: new Error('ECONNREFUSED') }
    for (let second = 0; second < 28; second++) {
      await send()
      vi.advanceTimersByTime(1000)
    }
    answer = { outcome: 'duplicate' }
    await send()
    answer = { outcome: 'accepted' }
    await send()
    await send()
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { code: 'store_down', err: { message: 'ECONNREFUSED' } } },
      {
        level: 'warn',
        message: 'The inbox or its store works again after 28 s; 28 deliveries were refused.',
      },
    ])
  })

  it('works again in a worker process once an attempt starts', async () => {
    const { inbox, run } = durableInbox({})
    const { receiver, logger } = watch({
      inbox: {
        ...inbox,
        start: (work, policy) => {
          policy.observe({ kind: 'store_down', operation: 'work', error: new Error('ECONNREFUSED') })
          return inbox.start(work, policy)
        },
      },
    })
    await receiver.on('*', () => {}).start()
    // The event may have been taken before the failure.
    await run()
    expect(codes(logger)).not.toContain('warn store_up')
    vi.advanceTimersByTime(28_000)
    await run()
    expect(codes(logger)).toEqual(['error store_down', 'warn store_up'])
  })
})

describe('a wrong secret', () => {
  const forged = () => signedRequest(eventBody(), { secret: 'whsec_another_0123456789' })

  it('is an error that questions the secret while nothing has verified, and a warning afterwards', async () => {
    vi.useFakeTimers()
    const { receiver, logger, send } = watch()
    receiver.on('*', () => {})
    for (let i = 0; i < 5; i++) await receiver.handle(forged())
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        fields: { code: 'signature_mismatch', status: 401 },
        message: expect.stringContaining(
          "no delivery has verified since this process started: is SIGNING_SECRET this endpoint's secret? See",
        ),
      },
    ])
    expect((await send()).status).toBe(202)
    await receiver.handle(forged())
    expect(logger.lines[1]).toMatchObject({ level: 'warn', fields: { code: 'signature_mismatch' } })
    expect(logger.lines[1]?.message).not.toContain('SIGNING_SECRET')
    vi.advanceTimersByTime(60_000)
    expect(logger.lines[2]?.message).toContain('signature_mismatch (and 3 more since the last report)')
  })
})

describe('a clock that is off', () => {
  it.each([
    ['ahead', 3600_000, 'timestamp_too_old'],
    ['behind', -3600_000, 'timestamp_too_new'],
  ] as const)(
    'is an error once several genuine deliveries in a row are refused: %s',
    async (side, by, code) => {
      const { receiver, logger, send } = watch({ clock: () => Date.now() + by })
      receiver.on('*', () => {})
      await send({ id: 'a' })
      await send({ id: 'b' })
      expect(codes(logger)).toEqual([`warn ${code}`])
      await send({ id: 'c' })
      await send({ id: 'd' })
      expect(codes(logger)).toEqual([`warn ${code}`, `error ${code}`])
      expect(logger.lines[1]?.message).toMatch(
        new RegExp(
          `t is (3599|360[01]) s .+ check this machine's clock, which seems to be ${side} by as much\\. See`,
        ),
      )
    },
  )

  it('is not suspected while deliveries pass, for forged ones, or in both directions', async () => {
    const { receiver, logger, send } = watch()
    receiver.on('*', () => {})
    const old = (at: number, secret = SECRET) => {
      const body = eventBody({ id: `${at}` })
      const headers = { 'x-service-signature': sign(body, { secret, timestamp: at }) }
      return receiver.handle({ ...signedRequest(body), headers })
    }
    const now = Math.floor(Date.now() / 1000)
    for (let i = 0; i < 6; i++) {
      await old(now - 4000)
      await old(now - 4000)
      await old(now - 4000, 'whsec_another_0123456789')
      if (i % 2 === 0) await send({ id: `fresh_${i}` })
      else await old(now + 4000)
    }
    expect(codes(logger).filter(code => code.startsWith('error'))).toEqual([])
  })
})

describe('a queue that fills up', () => {
  it('is a warning at four fifths of the capacity, and again only after it was emptied', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const gates: (() => void)[] = []
    const { receiver, logger, send } = watch({ capacity: 10, concurrency: 10 })
    receiver.on('*', () => new Promise<void>(resolve => gates.push(resolve)))
    let id = 0
    const fill = async (count: number) => {
      for (let i = 0; i < count; i++) {
        vi.advanceTimersByTime(1000)
        await send({ id: `evt_${id++}` })
      }
      await vi.waitFor(() => expect(gates).toHaveLength(Number(id) - finished))
    }
    let finished = 0
    const finish = async (count: number) => {
      finished += count
      for (const end of gates.splice(0, count)) end()
      await vi.waitFor(async () => expect((await receiver.stats()).active).toBe(gates.length))
    }
    await fill(7)
    expect(logger.lines).toEqual([])
    await fill(2)
    await finish(3)
    await fill(2)
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        fields: { code: 'queue_filling', capacity: 10 },
        message:
          'The inbox is 80% full. 8 events wait or run, the oldest for 7 s; capacity is 10. Once it is full, deliveries get 503: raise concurrency, add processes or make handlers faster.',
      },
    ])
    await finish(5)
    await fill(5)
    expect(codes(logger)).toEqual(['warn queue_filling', 'warn queue_filling'])
    await fill(2)
    expect((await send({ id: 'beyond' })).status).toBe(503)
    expect(logger.lines.at(-1)?.message).toMatch(
      /^Webhook refused with 503 capacity_exceeded: .+ 10 events wait or run, the oldest for \d+ s; capacity is 10\./,
    )
  })

  it('of a durable inbox is queried at most every thirty seconds, and delays no reply', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const full = { pending: 850_000, active: 16, dead: 1, oldestPendingMs: 90_000 }
    let answer: (stats: InboxStats) => void = () => {}
    const stats = vi.fn(() => new Promise<InboxStats>(resolve => (answer = resolve)))
    const { inbox } = durableInbox({ stats })
    const { receiver, logger, send } = watch({ inbox, capacity: 1_000_000, concurrency: 0 })
    await receiver.start()
    expect(stats).toHaveBeenCalledTimes(1)
    answer(EMPTY)
    for (let second = 0; second < 61; second++) {
      expect((await send()).status).toBe(202)
      vi.advanceTimersByTime(1000)
    }
    expect(stats).toHaveBeenCalledTimes(1 + 2)
    answer(full)
    await vi.waitFor(() => expect(codes(logger)).toEqual(['warn queue_filling']))
    expect(logger.lines[0]?.message).toContain('The inbox is 85% full. 850016 events wait or run')
  })

  it('of a durable inbox is also queried within a burst, so that the warning comes before the first refusal', async () => {
    let pending = 0
    const { inbox } = durableInbox({
      stats: async () => ({ ...EMPTY, pending }),
      accept: () => (pending++ < 1000 ? { outcome: 'accepted' } : { outcome: 'full' }),
    })
    const { logger, send } = watch({ inbox, capacity: 1000, concurrency: 0 })
    while ((await send()).status === 202);
    await vi.waitFor(() => expect(codes(logger)).toEqual(['warn queue_filling', 'warn capacity_exceeded']))
  })

  it('costs no line and no reply if the inbox cannot report its size', async () => {
    const { inbox } = durableInbox({
      stats: () => Promise.reject(new Error('no')),
      accept: () => ({ outcome: 'full' }),
    })
    const { logger, send } = watch({ inbox, concurrency: 0 })
    expect((await send()).status).toBe(503)
    await vi.waitFor(() => expect(codes(logger)).toEqual(['warn capacity_exceeded']))
  })
})

describe('a deployment', () => {
  it('is logged when the drain begins and when it is over, with the outcome of the events', async () => {
    const gates: (() => void)[] = []
    const { receiver, logger, send } = watch({ concurrency: 2 })
    receiver.on('*', ({ id }) =>
      id === 'c' ? new Promise(() => {}) : new Promise<void>(resolve => gates.push(resolve)),
    )
    for (const id of ['a', 'b', 'c']) await send({ id })
    await vi.waitFor(() => expect(gates).toHaveLength(2))
    const closed = receiver.close({ timeout: '500ms' })
    await vi.waitFor(() => expect(codes(logger)).toContain('info drain_begins'))
    expect(logger.lines[0]).toMatchObject({
      fields: { pending: 1, active: 2 },
      message: 'The drain begins: 1 events wait and 2 run. It takes 0.5 s at most.',
    })
    for (const end of gates.splice(0)) end()
    expect(await closed).toEqual({ lost: 1 })
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      fields: { code: 'drain_over', handled: 2, withdrawn: 1, left: 1, lost: 1 },
      message: expect.stringMatching(
        /^The drain ended after [\d.]+ s: 2 events handled, 1 attempts withdrawn, 1 events left\. 1 are lost: give close\(\)/,
      ),
    })
  })

  it('counts each event once whose end could not be recorded, handled or failed, as cut', async () => {
    let policy: ProcessingPolicy | undefined
    const { inbox } = durableInbox({})
    const about = (id: string) => ({ id, type: 'a.b', namespace: '' })
    const error = ABORT.drained()
    const receiver = createReceiver({
      secret: SECRET,
      logger: recordingLogger(),
      inbox: {
        ...inbox,
        start(_, given) {
          policy = given
        },
        async close() {
          policy?.observe({ kind: 'completion_lost', ...about('handled'), error })
          policy?.observe({ kind: 'failure_lost', ...about('failed'), error })
          policy?.observe({ kind: 'failure_lost', ...about('withdrawn'), error })
          policy?.observe({
            kind: 'attempt_withdrawn',
            ...about('withdrawn'),
            attempt: 1,
            durationMs: 1,
            error,
          })
          return { lost: 0 }
        },
      },
    })
    await receiver.on('*', () => {}).start()
    expect(await receiver.close()).toEqual({ lost: 0, cut: 3 })
  })

  it('that leaves nothing is two lines of information', async () => {
    const { receiver, logger } = watch()
    await receiver.on('*', () => {}).start()
    await receiver.close()
    expect(codes(logger)).toEqual(['info drain_begins', 'info drain_over'])
  })

  it('logs nothing for a receiver that never started', async () => {
    const { receiver, logger } = watch()
    await receiver.close()
    expect(logger.lines).toEqual([])
  })
})

describe('events left by an earlier process', () => {
  it.each([
    [
      { pending: 200, active: 0, dead: 1 },
      '200 events wait from an earlier run, 1 dead letter (file /data/webhooks.db).',
    ],
    [
      { pending: 0, active: 1, dead: 2 },
      '1 event waits from an earlier run, 2 dead letters (file /data/webhooks.db).',
    ],
  ])('are logged at the start of a durable inbox: %j', async (counts, message) => {
    const { inbox } = durableInbox({ stats: async () => ({ ...EMPTY, ...counts }) })
    const { receiver, logger } = watch({ inbox })
    await receiver.on('*', () => {}).start()
    await vi.waitFor(() =>
      expect(logger.lines).toMatchObject([
        { level: 'info', fields: { code: 'inbox_resumed', ...counts }, message },
      ]),
    )
  })

  it('are not logged if there are none, or if the inbox is not durable', async () => {
    for (const { receiver, logger } of [watch({ inbox: durableInbox({}).inbox }), watch()]) {
      await receiver.on('*', () => {}).start()
      expect(logger.lines).toEqual([])
    }
  })
})

describe('a dead letter without onDeadLetter', () => {
  it.each(['once attempts are used up', 'after crashes'])(
    'is an error with its namespace and the command that redrives it: %s',
    async how => {
      const redriveCommand = ({ id, namespace }: { id: string; namespace: string }) =>
        `redrive ${id} ${namespace}`
      const { inbox } = durableInbox({ redriveCommand })
      const logger = recordingLogger()
      let process: ProcessEvent | undefined
      const start: Inbox['start'] = run => {
        process = run
      }
      const receiver = createReceiver({
        secret: SECRET,
        inbox: { ...inbox, start },
        logger,
        retry: { attempts: 1 },
      })
      await receiver.on('*', () => Promise.reject(new TypeError('no'))).start()
      const delivery = {
        key: 'k',
        namespace: 'acme',
        id: 'evt_1',
        type: 'a.b',
        fingerprint: 1,
        receivedAt: 0,
      }
      const body = new Uint8Array(Buffer.from(eventBody({ type: 'a.b' })))
      await process?.(
        { ...delivery, body },
        createAttempt(1, how === 'after crashes' ? 'dead-letter' : 'run'),
      )
      expect(logger.lines).toMatchObject([
        {
          level: 'error',
          fields: { event: 'evt_1', type: 'a.b', namespace: 'acme', err: expect.any(Error) },
          message: 'Event evt_1 (a.b) is dead-lettered after attempt 1. To run it again: redrive evt_1 acme',
        },
      ])
    },
  )
})

describe('a handler that fails often', () => {
  it('is logged by its error name, at once and then once a minute with a count; the first dead letters one by one', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    const { inbox, run } = durableInbox({})
    const { receiver, logger } = watch({ inbox, retry: { attempts: 3 } })
    let error: Error = new TypeError('undefined is not a function')
    await receiver
      .on('*', () => {
        throw error
      })
      .start()
    for (let i = 0; i < 413; i++) await run()
    error = new RangeError('too far')
    await run()
    for (let i = 0; i < 3; i++) await run(3)
    expect(logger.lines.slice(0, 2)).toMatchObject([
      { level: 'warn', fields: { err: { message: 'undefined is not a function' }, error: 'TypeError' } },
      { level: 'warn', fields: { error: 'RangeError' } },
    ])
    expect(logger.lines.slice(2).map(({ level }) => level)).toEqual(['error', 'error', 'error'])
    vi.advanceTimersByTime(60_000)
    expect(logger.lines.slice(5)).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(/^TypeError failed 412 more times since the last report\. /),
      },
    ])
  })

  it('of many events of a type is logged whole ten times, then once a minute with a count, and whole again later', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    const { inbox, run } = durableInbox({ redriveCommand: ({ id }) => `npx ackhook inbox redrive ${id}` })
    const { receiver, logger } = watch({ inbox, retry: { attempts: 1 } })
    let error: Error = new TypeError('no')
    await receiver
      .on('*', () => {
        throw error
      })
      .start()
    for (let i = 0; i < 1000; i++) await run()
    // The eleventh is the first of the counted ones, and so at once.
    expect(logger.lines).toHaveLength(11)
    error = new RangeError('too far')
    await run()
    expect(logger.lines).toHaveLength(12)
    expect(logger.lines.every(({ message }) => message.includes('To run it again:'))).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(logger.lines.slice(12).map(({ level, message }) => [level, message])).toEqual([
      [
        'error',
        '989 more events were dead-lettered since the last report (a.b, TypeError). The last: Event evt_1 (a.b) is dead-lettered after attempt 1. To run it again: npx ackhook inbox redrive evt_1',
      ],
    ])
    vi.advanceTimersByTime(61_000)
    await run()
    expect(logger.lines).toHaveLength(14)
  })
})

it('prints no control character of an event', async () => {
  const { inbox, run } = durableInbox({})
  const lines: string[] = []
  const write = (fields: object, message: string) => void lines.push(JSON.stringify(fields) + message)
  const receiver = createReceiver({
    secret: SECRET,
    inbox,
    logger: { info: write, warn: write, error: write },
    retry: { attempts: 2 },
  })
  const error = Object.assign(new Error('no'), { name: 'Bad\u001b[2J' })
  await receiver.on('*', () => Promise.reject(error)).start()
  await run()
  await run(2)
  expect(lines).toHaveLength(2)
  // JSON would escape control characters within `err`.
  for (const line of lines) expect(line).not.toContain('\u001b')
})
