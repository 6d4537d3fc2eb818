import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { itInFull } from '../../../test/support/in-full.ts'
import { signedRequest } from '../../../test/support/receiving.ts'
import { type SqsServer, startSqs } from '../../../test/support/sqs.ts'
import { startReceiver } from './start-receiver.ts'

type Started = Awaited<ReturnType<typeof startReceiver>>
type About = Omit<Parameters<typeof startReceiver>[0], 'sqs'>

let sqs: SqsServer
const started: Started[] = []
beforeAll(async () => {
  sqs = await startSqs()
})
// Closes all receivers together at the end, because each close waits for the polls in progress.
afterAll(async () => {
  await Promise.all(started.map(({ receiver }) => receiver.close({ timeout: '1ms' })))
  await sqs.stop()
})

async function start(about: About = {}): Promise<Started> {
  const one = await startReceiver({ sqs, ...about })
  started.push(one)
  return one
}

describe('an event', () => {
  it('is acknowledged once SQS has it, runs once, and leaves the queue', async () => {
    const { send, runs, queueUrl } = await start()
    expect(await send('evt_1')).toMatchObject({ status: 202, code: 'accepted' })
    await expect.poll(() => runs).toEqual(['evt_1#1'])
    await expect.poll(() => sqs.count(queueUrl)).toBe(0)
  })

  it('reaches its handlers with the exact signed bytes', async () => {
    const { receiver, bodies } = await start()
    const texts = ['\r\n{ "id":"evt_ü", "type":"a.b",', '{"id":"evt_\uffff","type":"a.b",']
    for (const text of texts) {
      const whole = `${text}"created_at":"2026-01-01T00:00:00Z","data":{}}`
      expect(await receiver.handle(signedRequest(whole))).toMatchObject({ status: 202 })
      await expect.poll(() => bodies).toContain(whole)
    }
  })

  it('that fails is sent again with its attempt count, and the others run', async () => {
    const { send, runs, queueUrl } = await start()
    await Promise.all([send('evt_1', { fails: 2 }), send('evt_2'), send('evt_3')])
    await expect
      .poll(() => runs.filter(run => run.startsWith('evt_1')))
      .toEqual(['evt_1#1', 'evt_1#2', 'evt_1#3'])
    expect([...runs].sort()).toEqual(['evt_1#1', 'evt_1#2', 'evt_1#3', 'evt_2#1', 'evt_3#1'])
    await expect.poll(() => sqs.count(queueUrl)).toBe(0)
  })

  it('waits in several messages if its retry is later than SQS can delay one', async () => {
    const { send, runs, client, queueUrl } = await start({
      options: { retry: { minDelay: '10h', maxDelay: '10h' } },
    })
    const calls = vi.spyOn(client, 'send')
    await send('evt_1', { fails: 1 })
    await expect.poll(() => runs).toEqual(['evt_1#1'])
    const sent = () =>
      calls.mock.calls
        .map(([{ input }]) => input as { QueueUrl?: string; DelaySeconds?: number; MessageBody?: string })
        .filter(input => input.QueueUrl === queueUrl && input.MessageBody !== undefined)
    await expect.poll(() => sent().map(({ DelaySeconds }) => DelaySeconds)).toEqual([0, 900])
    const head = JSON.parse(sent()[1]?.MessageBody?.split('\n')[0] ?? '') as { waitMs: number }
    expect(head.waitMs).toBeGreaterThan(4 * 3_600_000)
    calls.mockRestore()
  })

  it('that does not fit into a message gets 413 with the reason, and one that just fits is kept', async () => {
    const { send, seen, runs } = await start({ options: { body: { limit: 2_000_000 } } })
    expect(await send('evt_1', { text: 'x'.repeat(1_048_400) })).toMatchObject({
      status: 413,
      code: 'body_too_large',
    })
    expect(seen).toContainEqual(
      expect.objectContaining({ detail: expect.stringMatching(/1048576-byte limit/) }),
    )
    const asBase64 = `\uffff${'x'.repeat(800_000)}`
    expect(await send('evt_1', { text: asBase64 })).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(await send('evt_2', { text: 'x'.repeat(1_048_000) })).toMatchObject({ status: 202 })
    await expect.poll(() => runs).toEqual(['evt_2#1'])
  })

  it('that does not fit into a message of this queue gets 413', async () => {
    const { send } = await start({ attributes: { MaximumMessageSize: '2048' } })
    expect(await send('evt_1', { text: 'x'.repeat(2000) })).toMatchObject({ status: 413 })
    expect(await send('evt_2', { text: 'x'.repeat(1000) })).toMatchObject({ status: 202 })
  })
})

describe('a duplicate', () => {
  it('is acknowledged and not run, and different bytes under its id are reported', async () => {
    const { send, runs, kinds, queueUrl } = await start()
    await send('evt_1')
    await expect.poll(() => kinds('completed')).toHaveLength(1)
    expect(await send('evt_1')).toMatchObject({ status: 202 })
    expect(await send('evt_1', { other: true })).toMatchObject({ status: 202 })
    await expect
      .poll(() =>
        kinds('duplicate')
          .map(one => 'conflict' in one && one.conflict)
          .sort(),
      )
      .toEqual([false, true])
    expect(runs).toEqual(['evt_1#1'])
    await expect.poll(() => sqs.count(queueUrl)).toBe(0)
  })

  it('of a running event waits until that has ended, and does not run', async () => {
    const { send, receiver, kinds, runs } = await start()
    let end = (): void => {}
    receiver.on('slow', () => new Promise<void>(resolve => (end = resolve)))
    const slow = signedRequest(`{"id":"evt_1","type":"slow","created_at":"2026-01-01T00:00:00Z","data":{}}`)
    await receiver.handle(slow)
    await expect.poll(() => runs).toEqual(['evt_1#1'])
    await receiver.handle(slow)
    await send('evt_2')
    await expect.poll(() => kinds('completed')).toHaveLength(1)
    end()
    await expect.poll(() => kinds('duplicate')).toHaveLength(1)
    expect(runs).toEqual(['evt_1#1', 'evt_2#1'])
  })
})

describe('an event without a further attempt', () => {
  it('goes to the dead letters with its reason, and starts at its first attempt if moved back', async () => {
    const { send, runs, deadLetters, queueUrl, body } = await start({
      options: { retry: { attempts: 2, minDelay: '1ms' } },
    })
    await send('evt_1', { fails: 2 })
    await expect.poll(() => sqs.count(deadLetters)).toBe(1)
    const [letter] = await sqs.take(deadLetters)
    const [head = '', ...rest] = (letter?.Body ?? '').split('\n')
    expect(JSON.parse(head)).toMatchObject({
      id: 'evt_1',
      attempts: 0,
      dead: { attempts: 2, reason: 'Error: attempt 2 fails' },
    })
    expect(rest.join('\n')).toBe(body('evt_1', { fails: 2 }))
    await sqs.sendText(queueUrl, letter?.Body ?? '')
    await expect.poll(() => runs).toEqual(['evt_1#1', 'evt_1#2', 'evt_1#1', 'evt_1#2'])
  })

  it('is logged if dead letters are not stored', async () => {
    const { send, codes } = await start({
      inbox: { deadLetters: false },
      options: { retry: { attempts: 1 } },
    })
    await send('evt_1', { fails: 1 })
    await expect.poll(codes).toContain('dead_letter_dropped')
  })
})

it("keeps another producer's message unchanged, reports it, and runs the others", async () => {
  const { send, runs, queueUrl, deadLetters, codes, receiver } = await start()
  await receiver.start()
  await sqs.sendText(queueUrl, 'not ours')
  await send('evt_1')
  await expect.poll(() => runs).toEqual(['evt_1#1'])
  await expect.poll(() => sqs.count(deadLetters)).toBe(1)
  expect((await sqs.take(deadLetters)).map(({ Body }) => Body)).toEqual(['not ours'])
  expect(codes()).toContain('message_unreadable')
  await expect.poll(() => sqs.count(queueUrl)).toBe(0)
})

describe('close', () => {
  it('waits for running events and removes their messages, and leaves the rest in the queue', async () => {
    const { send, receiver, runs, queueUrl } = await start({ options: { concurrency: 1 } })
    let end = (): void => {}
    receiver.on('slow', () => new Promise<void>(resolve => (end = resolve)))
    await receiver.handle(
      signedRequest('{"id":"evt_1","type":"slow","created_at":"2026-01-01T00:00:00Z","data":{}}'),
    )
    await expect.poll(() => runs).toEqual(['evt_1#1'])
    await send('evt_2')
    const closing = receiver.close({ timeout: '10s' })
    end()
    expect(await closing).toEqual({ lost: 0 })
    expect(runs).toEqual(['evt_1#1'])
    expect((await sqs.take(queueUrl)).map(({ Body }) => Body?.includes('evt_2'))).toEqual([true])
    expect(await sqs.count(queueUrl)).toBe(1)
  })

  it('returns an event that runs too long to the queue, with its attempts, and another process continues', async () => {
    const first = await start()
    first.receiver.on('slow', () => new Promise<void>(() => {}))
    await first.receiver.handle(
      signedRequest('{"id":"evt_1","type":"slow","created_at":"2026-01-01T00:00:00Z","data":{}}'),
    )
    await expect.poll(() => first.runs).toEqual(['evt_1#1'])
    await first.receiver.close({ timeout: '1ms' })
    const { receiver, runs } = await start({ inbox: { queueUrl: first.queueUrl } })
    await receiver.start()
    await expect.poll(() => runs).toEqual(['evt_1#1'])
  })

  it('leaves no poll behind that could take a message', async () => {
    const first = await start()
    await first.receiver.start()
    await first.receiver.close()
    await sqs.sendText(first.queueUrl, 'later')
    expect(await sqs.take(first.queueUrl)).toHaveLength(1)
  })
})

describe("the queue's settings", () => {
  it('cause a warning if SQS would give up events first', async () => {
    const dead = await sqs.createQueue('given-up')
    const redrive = { deadLetterTargetArn: await sqs.arnOf(dead), maxReceiveCount: 3 }
    const { receiver, codes } = await start({ attributes: { RedrivePolicy: JSON.stringify(redrive) } })
    await receiver.start()
    expect(codes()).toContain('queue_may_give_up')
  })

  it('cause no warning if they leave room', async () => {
    const dead = await sqs.createQueue('given-up')
    const redrive = { deadLetterTargetArn: await sqs.arnOf(dead), maxReceiveCount: 10 }
    const { receiver, codes } = await start({ attributes: { RedrivePolicy: JSON.stringify(redrive) } })
    await receiver.start()
    expect(codes()).not.toContain('queue_may_give_up')
  })

  it('make start() reject with the name of the option if the queue does not exist', async () => {
    const { receiver } = await start({ inbox: { queueUrl: `${sqs.endpoint}/000000000000/none` } })
    await expect(receiver.start()).rejects.toMatchObject({ option: 'queueUrl' })
  })

  it('cause a warning if they may not be read, and the queue is used anyway', async () => {
    const { send, codes, client } = await start({ options: { concurrency: 0 } })
    const refused = Object.assign(new Error('not authorized'), { name: 'AccessDenied' })
    vi.spyOn(client, 'send').mockImplementationOnce(() => Promise.reject(refused))
    expect(await send('evt_1')).toMatchObject({ status: 202 })
    expect(codes()).toContain('queue_settings_unknown')
  })
})

it('counts waiting events, running events and dead letters', async () => {
  const { send, receiver, deadLetters } = await start({ options: { concurrency: 0 } })
  await send('evt_1')
  await send('evt_2')
  await sqs.sendText(deadLetters, 'a letter')
  expect(await receiver.stats()).toMatchObject({ pending: 2, active: 0, dead: 1 })
})

describe('an outage of SQS', () => {
  it('causes 503 until the sender retries; polls go on once SQS is back', async () => {
    const own = await startSqs()
    const { receiver, send, kinds, runs, queueUrl } = await startReceiver({
      sqs: own,
      options: { concurrency: 2 },
    })
    await receiver.start()
    await own.stop()
    expect(await send('evt_1')).toMatchObject({ status: 503, code: 'inbox_unavailable' })
    await expect
      .poll(() => kinds('store_down').some(one => 'operation' in one && one.operation === 'receive'))
      .toBe(true)
    expect(kinds('store_down').length).toBeLessThan(10)
    const again = await startSqs(Number(new URL(own.endpoint).port))
    await again.createAgain(queueUrl)
    expect(await send('evt_1')).toMatchObject({ status: 202 })
    await expect.poll(() => runs).toEqual(['evt_1#1'])
    await receiver.close()
    await again.stop()
  })

  it('causes 503 at the start too', async () => {
    const own = await startSqs()
    const { send } = await startReceiver({ sqs: own })
    await own.stop()
    expect(await send('evt_1')).toMatchObject({ status: 503, code: 'inbox_unavailable' })
  })
})

itInFull('hides the message of a handler that takes longer than its visibility timeout', async () => {
  const { receiver, runs, kinds, queueUrl } = await start()
  receiver.on('slow', () => new Promise(resolve => setTimeout(resolve, 12_000)))
  await receiver.handle(
    signedRequest('{"id":"evt_1","type":"slow","created_at":"2026-01-01T00:00:00Z","data":{}}'),
  )
  await expect.poll(() => kinds('completed')).toHaveLength(1)
  await expect.poll(() => sqs.count(queueUrl)).toBe(0)
  expect([runs, kinds('duplicate')]).toEqual([['evt_1#1'], []])
})
