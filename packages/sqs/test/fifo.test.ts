import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SqsServer, startSqs } from '../../../test/support/sqs.ts'
import { startReceiver } from './start-receiver.ts'

type Started = Awaited<ReturnType<typeof startReceiver>>

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

/** Starts a receiver that runs the events of one `data.of` in order. */
async function start(retry: object = { attempts: 3, minDelay: '1ms' }, queueUrl?: string): Promise<Started> {
  const serializeBy = ({ data }: { data: Record<string, unknown> }) => data['of'] as string | undefined
  const about = { sqs, name: 'events.fifo', options: { serializeBy, retry } as never }
  const one = await startReceiver(queueUrl === undefined ? about : { ...about, inbox: { queueUrl } })
  started.push(one)
  return one
}

const of = ({ runs }: Started, prefix: string) => runs.filter(run => run.startsWith(prefix))

describe('events of one key', () => {
  it('run one at a time, in order of acceptance, whichever process runs them', async () => {
    const first = await start()
    const second = await start(undefined, first.queueUrl)
    let running = 0
    let most = 0
    const order: string[] = []
    for (const { receiver } of [first, second]) {
      receiver.on('conversation.resolved', async ({ id }) => {
        most = Math.max(most, ++running)
        await new Promise(resolve => setTimeout(resolve, 5))
        order.push(id)
        running--
      })
      await receiver.start()
    }
    const ids = Array.from({ length: 8 }, (_, n) => `evt_${n}`)
    for (const id of ids) await first.send(id, { of: 'cnv_1' })
    await expect.poll(() => order).toEqual(ids)
    expect(most).toBe(1)
  })

  it('wait for the retry of the previous one, unlike those of other keys', async () => {
    const one = await start()
    await one.send('a_1', { of: 'cnv_a', fails: 1 })
    await one.send('a_2', { of: 'cnv_a' })
    await one.send('b_1', { of: 'cnv_b' })
    await one.send('c_1')
    await expect.poll(() => of(one, 'b_')).toEqual(['b_1#1'])
    await expect.poll(() => of(one, 'c_')).toEqual(['c_1#1'])
    await expect.poll(() => of(one, 'a_')).toEqual(['a_1#1', 'a_1#2', 'a_2#1'])
    expect(one.runs.indexOf('b_1#1')).toBeLessThan(one.runs.indexOf('a_1#2'))
    await expect.poll(() => sqs.count(one.queueUrl)).toBe(0)
  })

  it('go on after a dead letter, which runs after all waiting ones if moved back', async () => {
    const one = await start({ attempts: 2, minDelay: '1ms' })
    await one.send('a_1', { of: 'cnv_a', fails: 2 })
    await one.send('a_2', { of: 'cnv_a' })
    await expect.poll(() => one.runs).toEqual(['a_1#1', 'a_1#2', 'a_2#1'])
    expect(await sqs.count(one.deadLetters)).toBe(1)
    const [letter] = await sqs.take(one.deadLetters)
    expect(letter?.Attributes?.MessageGroupId).toBe('cnv_a')
    await one.send('a_3', { of: 'cnv_a' })
    await sqs.sendText(one.queueUrl, letter?.Body ?? '', 'cnv_a')
    await expect.poll(() => one.runs.slice(3)).toEqual(['a_3#1', 'a_1#1', 'a_1#2'])
  })

  it('may have a key that SQS would refuse as a group id', async () => {
    const one = await start()
    const key = 'Unterhaltung ü '.repeat(20)
    await one.send('a_1', { of: key, fails: 1 })
    await one.send('a_2', { of: key })
    await expect.poll(() => one.runs).toEqual(['a_1#1', 'a_1#2', 'a_2#1'])
  })
})

it('runs a dead letter redelivered within the five minutes in which SQS drops duplicates', async () => {
  const one = await start({ attempts: 1 })
  await one.send('a_1', { of: 'cnv_a', fails: 1 })
  await expect.poll(() => sqs.count(one.deadLetters)).toBe(1)
  await one.send('a_1', { of: 'cnv_a', fails: 1 })
  await expect.poll(() => one.runs).toEqual(['a_1#1', 'a_1#1'])
})

it('returns messages that arrive while it closes to their place in the queue', async () => {
  const one = await start()
  await one.receiver.start()
  const closing = one.receiver.close()
  await expect.poll(one.codes).toContain('drain_begins')
  await sqs.sendText(one.queueUrl, 'first')
  await sqs.sendText(one.queueUrl, 'second')
  await closing
  expect(await sqs.count(one.queueUrl)).toBe(2)
  await expect.poll(async () => (await sqs.take(one.queueUrl)).map(({ Body }) => Body)).toEqual(['first'])
})
