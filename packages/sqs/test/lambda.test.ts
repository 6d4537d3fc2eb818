import { memoryStore } from '@ackhook/core'
import { type SqsContext, type SqsRecord, toSqsHandler } from '@ackhook/sqs'
import type { Message } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SqsServer, startSqs } from '../../../test/support/sqs.ts'
import { startReceiver } from './start-receiver.ts'

let sqs: SqsServer
beforeAll(async () => {
  sqs = await startSqs()
})
afterAll(() => sqs.stop())

type About = Omit<Parameters<typeof startReceiver>[0], 'sqs'>

/** Starts a function behind its queue. */
async function start(about: About = {}) {
  const one = await startReceiver({ sqs, ...about, inbox: { poll: false, ...about.inbox } })
  const handler = toSqsHandler(one.receiver)
  /** Calls the function with messages and removes those that the reply does not name, as Lambda does. */
  async function invoke(
    messages: readonly Message[],
    group?: string,
    context?: SqsContext,
  ): Promise<string[]> {
    const { batchItemFailures } = await handler(
      { Records: messages.map(message => recordOf(message, group)) },
      context,
    )
    const kept = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
    for (const message of messages)
      if (!kept.includes(message.MessageId ?? '')) await sqs.remove(one.queueUrl, message)
    return messages.filter(({ MessageId }) => kept.includes(MessageId ?? '')).map(idOf)
  }
  /** Calls the function with the messages that the queue delivers. */
  const poll = async (): Promise<string[]> => invoke(await sqs.take(one.queueUrl))
  return { ...one, handler, invoke, poll }
}

/** `group`: replaces the group in fauxqs, which delivers one message of a group at a time. */
function recordOf({ MessageId, ReceiptHandle, Body, Attributes }: Message, group?: string): SqsRecord {
  const { ApproximateReceiveCount = '1', MessageGroupId } = Attributes ?? {}
  return {
    messageId: MessageId ?? '',
    receiptHandle: ReceiptHandle ?? '',
    body: Body ?? '',
    attributes: { ApproximateReceiveCount, MessageGroupId: group ?? MessageGroupId },
  }
}

const idOf = ({ Body }: Message): string => (JSON.parse(Body?.split('\n')[0] ?? '') as { id: string }).id

describe('a batch of a standard queue', () => {
  it('is settled message by message: a failing event is sent again, and the reply names none', async () => {
    const { send, poll, runs, queueUrl } = await start()
    for (const [id, fails] of [
      ['evt_1', 1],
      ['evt_2', 0],
      ['evt_3', 0],
    ] as const)
      await send(id, { fails })
    expect(await poll()).toEqual([])
    expect([...runs].sort()).toEqual(['evt_1#1', 'evt_2#1', 'evt_3#1'])
    await expect.poll(async () => [await poll(), runs.at(-1)]).toEqual([[], 'evt_1#2'])
    expect(await sqs.count(queueUrl)).toBe(0)
  })

  it('keeps only a message written by a later release', async () => {
    const { send, poll, runs, queueUrl, receiver } = await start()
    await receiver.start()
    await sqs.sendText(queueUrl, '{"v":3,"id":"later"}\n{}')
    await send('evt_1')
    expect(await poll()).toEqual(['later'])
    expect(runs).toEqual(['evt_1#1'])
    expect(await sqs.count(queueUrl)).toBe(1)
  })

  it('may have groups, which are not kept in order', async () => {
    const { send, invoke, runs, queueUrl } = await start()
    await sqs.sendText(queueUrl, '{"v":3,"id":"later"}\n{}')
    await send('evt_1')
    expect(await invoke(await sqs.take(queueUrl), 'a')).toEqual(['later'])
    expect(runs).toEqual(['evt_1#1'])
  })

  it('runs an event that was throttled: deliveries without a run cost no attempt', async () => {
    const { send, receiver, poll, runs, queueUrl, deadLetters } = await start()
    let notified = 0
    receiver.onDeadLetter(() => void notified++)
    await send('evt_1', { fails: 1 })
    // Lambda took the message nine times, and was throttled each time.
    for (let delivery = 0; delivery < 9; delivery++) {
      const [message] = await sqs.take(queueUrl)
      if (message !== undefined) await sqs.giveBack(queueUrl, message)
    }
    expect(await poll()).toEqual([])
    await expect.poll(async () => [await poll(), runs]).toEqual([[], ['evt_1#1', 'evt_1#2']])
    expect([notified, await sqs.count(deadLetters)]).toEqual([0, 0])
  })

  it("counts the function's crashes: it no longer runs an event after five", async () => {
    const store = memoryStore()
    const { send, receiver, poll, runs, queueUrl, deadLetters } = await start({ inbox: { store } })
    let notified = 0
    receiver.onDeadLetter(() => void notified++)
    await send('evt_1')
    const [message] = await sqs.take(queueUrl)
    const { key } = JSON.parse(message?.Body?.split('\n')[0] ?? '') as { key: string }
    for (let crash = 0; crash < 5; crash++) {
      await store.claim(key, `crash-${crash}`, { leaseMs: 1, fingerprint: 0, countForMs: 60_000 })
      await expect.poll(() => store.extend(key, `crash-${crash}`, 1)).toBe(false)
    }
    if (message !== undefined) await sqs.giveBack(queueUrl, message)
    expect(await poll()).toEqual([])
    expect([runs, notified, await sqs.count(deadLetters)]).toEqual([[], 1, 1])
  })

  it('begins nothing that does not fit into the remaining time, and that costs no attempt', async () => {
    const { send, invoke, poll, runs, queueUrl, codes } = await start({
      options: { handlerTimeout: '10s', concurrency: 1 },
    })
    for (const id of ['evt_1', 'evt_2', 'evt_3']) await send(id)
    // Each event uses up five of the function's 20 seconds.
    const remaining = () => ({ getRemainingTimeInMillis: () => 20_000 - 5000 * runs.length })
    const kept = await invoke(await sqs.take(queueUrl), undefined, remaining())
    expect([kept.length, runs.length]).toEqual([1, 2])
    expect(codes()).toContain('batch_returned')
    // Visible at once, not after the visibility timeout.
    expect(await poll()).toEqual([])
    expect([...runs].sort()).toEqual(['evt_1#1', 'evt_2#1', 'evt_3#1'])
  })

  it('reports every message if the function has less time than one event may take', async () => {
    const { send, invoke, runs, queueUrl, codes } = await start()
    await send('evt_1')
    await send('evt_2')
    const messages = await sqs.take(queueUrl)
    const kept = await invoke(messages, undefined, { getRemainingTimeInMillis: () => 30_000 })
    expect([kept.sort(), runs]).toEqual([['evt_1', 'evt_2'], []])
    expect(codes()).toContain('function_timeout_too_short')
  })
})

describe('a batch of a FIFO queue', () => {
  const options = { serializeBy: ({ data }: { data: Record<string, unknown> }) => data['of'] } as never

  it('keeps the first of a group that fails and all after it, so that they stay in order', async () => {
    const { send, invoke, poll, runs, queueUrl, codes } = await start({ name: 'events.fifo', options })
    await send('a_1', { of: 'one' })
    await send('a_2', { of: 'two', fails: 1 })
    await send('a_3', { of: 'three' })
    const messages = await sqs.take(queueUrl)
    expect(await invoke(messages, 'a')).toEqual(['a_2', 'a_3'])
    expect(runs).toEqual(['a_1#1', 'a_2#1'])
    expect(codes()).toContain('fifo_batch')
    // Kept messages return to the queue: immediately, or after the failed one's delay.
    await expect
      .poll(async () => {
        await poll()
        return [...runs].sort()
      })
      .toEqual(['a_1#1', 'a_2#1', 'a_2#2', 'a_3#1'])
    expect(await sqs.count(queueUrl)).toBe(0)
  })

  it('with one message costs those behind it no attempt', async () => {
    const { send, poll, runs, queueUrl, codes } = await start({ name: 'events.fifo', options })
    await send('a_1', { of: 'a', fails: 1 })
    await send('a_2', { of: 'a' })
    await send('b_1', { of: 'b' })
    expect(await poll()).toEqual(['a_1'])
    expect([...runs].sort()).toEqual(['a_1#1', 'b_1#1'])
    await expect
      .poll(async () => {
        await poll()
        return runs.filter(run => run.startsWith('a_'))
      })
      .toEqual(['a_1#1', 'a_1#2', 'a_2#1'])
    expect(codes()).not.toContain('fifo_batch')
    expect(await sqs.count(queueUrl)).toBe(0)
  })
})

it('fails the call in a function that only receives, so that SQS keeps the messages', async () => {
  const { send, queueUrl, handler } = await start({ options: { concurrency: 0 } })
  await send('evt_1')
  const records = (await sqs.take(queueUrl)).map(message => recordOf(message))
  await expect(handler({ Records: records })).rejects.toMatchObject({ option: 'concurrency' })
})

it.each([
  ['undefined', undefined],
  ['a test event', { key1: 'value1' }],
  ['an HTTP event', { requestContext: {}, body: '' }],
  ['Records of another type', { Records: 'none' }],
  [
    'Records that throw',
    Object.defineProperty({}, 'Records', {
      get: () => {
        throw new Error('no')
      },
    }),
  ],
])('says what is wrong if the call has no Records: %s', async (_, batch) => {
  const { handler } = await start()
  await expect(handler(batch as never)).rejects.toThrow(/must be an SQS queue: .* without 'Records'/)
})

it('keeps a record of another shape and handles the others', async () => {
  const { send, handler, runs, queueUrl, codes } = await start()
  await send('evt_1')
  const good = (await sqs.take(queueUrl)).map(message => recordOf(message))
  const throwing = {
    messageId: 'm2',
    get receiptHandle() {
      throw new Error('no')
    },
  }
  const odd = [null, 7, {}, { messageId: 'm1' }, throwing, { ...good[0]!, messageId: 'm3', body: { id: 1 } }]
  const { batchItemFailures } = await handler({ Records: Object.freeze([...odd, ...good]) as never })
  expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual([
    '',
    '',
    '',
    'm1',
    'm2',
    'm3',
  ])
  // One line for all of them: a sender could fill the log otherwise.
  expect([runs, codes().filter(code => code === 'record_unreadable').length]).toEqual([['evt_1#1'], 1])
})

it.each([
  ['absent', undefined],
  ['null', null],
  ['empty', {}],
  [
    'throwing',
    {
      getRemainingTimeInMillis: () => {
        throw new Error('no')
      },
    },
  ],
  ['not a number', { getRemainingTimeInMillis: () => Number.NaN }],
])('sets no limit if the context is %s', async (_, context) => {
  const { send, invoke, runs, queueUrl } = await start()
  await send('evt_1')
  expect(await invoke(await sqs.take(queueUrl), undefined, context as never)).toEqual([])
  expect(runs).toEqual(['evt_1#1'])
})
