import { cloudflareQueueInbox, toQueueHandler } from '@ackhook/cloudflare'
import { createReceiver, memoryStore } from '@ackhook/core'
import { createEvent, signedRequest } from '@ackhook/testing'
import type { Miniflare } from 'miniflare'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { inFull, itInFull } from '../../../test/support/in-full.ts'
import { bundleWorker, startCloudflare } from './worker-program.ts'

// Miniflare's queue is in memory, so these tests cannot show the result of a kill between acceptance and consumption.

const secret = 'only-for-trying-it-out'
type Line = Record<string, unknown>

let script: string
let cloudflare: Miniflare | undefined
let lines: Line[]
beforeAll(async () => {
  script = await bundleWorker('receiver.mjs')
})
afterEach(async () => {
  await cloudflare?.dispose()
  cloudflare = undefined
})

interface Setup {
  readonly options?: object
  /** Number of deliveries of each message whose Worker ends before it is consumed. */
  readonly crashes?: number
  /** Number of runs whose Worker ends while the handler runs. */
  readonly deaths?: number
  readonly maxRetries?: number
  /** Moves dead letters back into the queue. */
  readonly moveBack?: boolean
}

async function start({
  options = {},
  crashes = 0,
  deaths = 0,
  maxRetries = 100,
  moveBack = false,
}: Setup = {}): Promise<void> {
  lines = []
  cloudflare = startCloudflare(script, {
    bindings: {
      SIGNING_SECRET: secret,
      OPTIONS: options,
      CRASHES: crashes,
      DEATHS: deaths,
      MOVE_BACK: moveBack,
    },
    durableObjects: { EVENT_IDS: { className: 'EventIds', useSQLite: true } },
    queueProducers: { EVENTS: 'events', DEAD_LETTERS: 'dead' },
    queueConsumers: {
      events: { maxBatchSize: 10, maxBatchTimeout: 0.2, maxRetries, deadLetterQueue: 'dead' },
      dead: { maxBatchTimeout: 0.1 },
    },
    serviceBindings: {
      async TEST(request: { json(): Promise<unknown> }) {
        lines.push((await request.json()) as Line)
        return new Response() as never
      },
    },
  })
  await cloudflare.ready
}

/** Creates an event whose first `fails` attempts fail. */
function event(fails = 0) {
  const made = createEvent('conversation.resolved')
  return { ...made, data: { ...made.data, conversation_id: String(fails) } }
}

async function send(made: object): Promise<readonly [number, unknown]> {
  const { method, headers, body } = signedRequest(made as ReturnType<typeof event>, { secret })
  const reply = await cloudflare!.dispatchFetch('http://localhost/', { method, headers, body: body as never })
  return [reply.status, ((await reply.json()) as { code: unknown }).code]
}

const runsOf = (id: string) => lines.filter(({ ran }) => ran === id).map(({ attempt }) => attempt)
const runs = (id: string) => expect.poll(() => runsOf(id))

describe('a batch', () => {
  it('is settled message by message: only failed events are retried', async () => {
    await start({ options: { retry: { minDelay: '1ms' } } })
    const [good, twice, other] = [event(), event(2), event()]
    const replies = await Promise.all([good, twice, other].map(send))
    expect(replies).toEqual([
      [202, 'accepted'],
      [202, 'accepted'],
      [202, 'accepted'],
    ])
    await runs(twice.id).toEqual([1, 2, 3])
    await expect.poll(() => lines.filter(({ kind }) => kind === 'completed')).toHaveLength(3)
    expect([runsOf(good.id), runsOf(other.id)]).toEqual([[1], [1]])
  })

  it('delivers the exact signed bytes', async () => {
    await start()
    const body = `{ "id":"evt_ü", "type":"conversation.resolved",\n"created_at":"2026-01-01T00:00:00Z","data":{"conversation_id":"0"}}`
    const signed = signedRequest(body as never, { secret })
    const { status } = await cloudflare!.dispatchFetch('http://localhost/', signed as never)
    expect(status).toBe(202)
    await runs('evt_ü').toEqual([1])
    expect(lines.find(({ ran }) => ran === 'evt_ü')).toMatchObject({ body })
  })

  it("moves another producer's message to the dead letters unchanged, and runs the others", async () => {
    await start()
    const queue = await cloudflare!.getQueueProducer('EVENTS')
    const good = event()
    await queue.send('not ours' as never, { contentType: 'text' })
    await send(good)
    await runs(good.id).toEqual([1])
    await expect.poll(() => lines.find(({ dead }) => dead !== undefined)).toEqual({ dead: 'not ours' })
    await expect.poll(() => lines.filter(({ error }) => error === 'message_unreadable')).toHaveLength(1)
  })
})

describe('a duplicate', () => {
  it('is acknowledged and not run, and different bytes under its id are reported', async () => {
    await start()
    const made = event()
    await send(made)
    await runs(made.id).toEqual([1])
    expect(await send(made)).toEqual([202, 'accepted'])
    await send({ ...made, data: { ...made.data, channel: 'other' } })
    await expect
      .poll(() =>
        lines
          .filter(({ kind }) => kind === 'duplicate')
          .map(({ conflict }) => conflict)
          .sort(),
      )
      .toEqual([false, true])
    expect(runsOf(made.id)).toEqual([1])
  })

  it('of a running event waits, and does not run in parallel', async () => {
    await start()
    const made = event()
    await Promise.all([send(made), send(made), send(made)])
    await expect.poll(() => lines.filter(({ kind }) => kind === 'duplicate')).toHaveLength(2)
    expect(runsOf(made.id)).toEqual([1])
  })
})

describe('an event without a further attempt', () => {
  it('goes to the dead letters with its reason, and starts at its first attempt if moved back', async () => {
    await start({ options: { retry: { attempts: 2, minDelay: '1ms' } }, moveBack: true })
    const made = event(2)
    await send(made)
    await expect.poll(() => lines.find(({ dead }) => dead !== undefined)?.['dead']).toBeDefined()
    const [head = '', body] = String(lines.find(({ dead }) => dead !== undefined)?.['dead']).split('\n')
    expect(JSON.parse(head)).toMatchObject({
      v: 2,
      id: made.id,
      attempts: 0,
      dead: { attempts: 2, reason: 'Error: attempt 2 fails' },
    })
    expect(JSON.parse(body ?? '')).toEqual(made)
    expect(lines).toContainEqual({ died: made.id, attempt: 2, error: 'Error: attempt 2 fails' })
    await expect.poll(() => runsOf(made.id).slice(0, 4)).toEqual([1, 2, 1, 2])
  })

  it('is kept in the dead letter queue if Cloudflare itself gives it up, after a warning', async () => {
    await start({ crashes: 3, maxRetries: 3 })
    const made = event(9)
    await send(made)
    // The fourth delivery is the last that the default max_retries allows.
    await runs(made.id).toEqual([1])
    await expect.poll(() => lines).toContainEqual({ warning: 'queue_may_give_up' })
  })
})

describe('a Worker that dies', () => {
  it('before it consumes a batch costs no attempt, however often the queue delivers it', async () => {
    await start({ crashes: 7 })
    const made = event()
    await send(made)
    await runs(made.id).toEqual([1])
  })

  it('while it runs an event costs an attempt', async () => {
    await start({ deaths: inFull(4, 1) })
    const made = event()
    await send(made)
    await runs(made.id).toEqual(inFull([1, 2, 3, 4, 5], [1, 2]))
  })

  itInFull('five times in a row at one event passes it to onDeadLetter instead', async () => {
    await start({ deaths: 5 })
    const made = event()
    await send(made)
    await expect.poll(() => lines.find(({ died }) => died === made.id)).toMatchObject({ attempt: 5 })
    expect(runsOf(made.id)).toEqual([1, 2, 3, 4, 5])
  })
})

it.each([
  ['undefined', undefined],
  ['of another event', { type: 'scheduled' }],
  ['with messages of another type', { messages: 'none' }],
])('says what is wrong if a batch is %s', async (_, batch) => {
  const queue = { send: async () => {} }
  const inbox = cloudflareQueueInbox(queue, { store: memoryStore(), deadLetters: false })
  const handler = toQueueHandler(createReceiver({ secret, inbox }))
  await expect(handler(batch as never)).rejects.toThrow(/must be a Cloudflare queue/)
})

it('leaves what no longer fits into the 15 minutes of a batch to the next one, which costs no attempt', async () => {
  const messages: Uint8Array[] = []
  const queue = { send: async (message: Uint8Array) => void messages.push(message) }
  const receiver = createReceiver({
    secret,
    concurrency: 1,
    inbox: cloudflareQueueInbox(queue, { store: memoryStore(), deadLetters: false }),
  })
  const attempts: number[] = []
  const handler = toQueueHandler(receiver.on('*', (_, { attempt }) => void attempts.push(attempt)))
  for (let sent = 0; sent < 2; sent++)
    await receiver.handle({ ...signedRequest(event(), { secret }), context: undefined } as never)
  const settled: string[] = []
  const message = (body: Uint8Array, at: number) => ({
    id: `m${at}`,
    body,
    attempts: 9,
    ack: () => settled.push(`ack ${at}`),
    retry: ({ delaySeconds }: { delaySeconds: number }) => settled.push(`retry ${at} in ${delaySeconds}`),
  })
  // The first event takes until a minute before the end.
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => attempts.length * 840_000)
  await handler({ queue: 'events', messages: messages.map(message) })
  clock.mockRestore()
  expect([attempts, settled]).toEqual([[1], ['ack 0', 'retry 1 in 0']])
})

it('refuses an event that does not fit into a message with 413', async () => {
  await start({ options: { body: { limit: 1_000_000 } } })
  const made = event()
  const large = { ...made, data: { ...made.data, text: 'x'.repeat(128_000) } }
  expect(await send(large)).toEqual([413, 'body_too_large'])
  const fits = { ...made, data: { ...made.data, text: 'x'.repeat(126_000) } }
  expect(await send(fits)).toEqual([202, 'accepted'])
  await runs(made.id).toEqual([1])
})
