import { type SqsRecord, toSqsHandler } from '@ackhook/sqs'
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
  async function invoke(messages: readonly Message[], group?: string): Promise<string[]> {
    const { batchItemFailures } = await handler({
      Records: messages.map(message => recordOf(message, group)),
    })
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
    await sqs.sendText(queueUrl, '{"v":2,"id":"later"}\n{}')
    await send('evt_1')
    expect(await poll()).toEqual(['later'])
    expect(runs).toEqual(['evt_1#1'])
    expect(await sqs.count(queueUrl)).toBe(1)
  })

  it('may have groups, which are not kept in order', async () => {
    const { send, invoke, runs, queueUrl } = await start()
    await sqs.sendText(queueUrl, '{"v":2,"id":"later"}\n{}')
    await send('evt_1')
    expect(await invoke(await sqs.take(queueUrl), 'a')).toEqual(['later'])
    expect(runs).toEqual(['evt_1#1'])
  })

  it("counts the function's crashes: it no longer runs an event after five", async () => {
    const { send, receiver, poll, runs, queueUrl, deadLetters } = await start()
    let notified = 0
    receiver.onDeadLetter(() => void notified++)
    await send('evt_1')
    for (let crash = 0; crash < 5; crash++) {
      const [message] = await sqs.take(queueUrl)
      if (message !== undefined) await sqs.giveBack(queueUrl, message)
    }
    expect(await poll()).toEqual([])
    expect([runs, notified, await sqs.count(deadLetters)]).toEqual([[], 1, 1])
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
      .toEqual(['a_1#1', 'a_2#1', 'a_2#2', 'a_3#2'])
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
