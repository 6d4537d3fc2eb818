import { randomBytes } from 'node:crypto'
import { bullmqInbox } from '@ackhook/bullmq'
import { Queue, Worker } from 'bullmq'
import { startRedis } from '../lib/engines.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { keepInFlight } from '../lib/in-flight.mjs'
import { interleave, median, ratio } from '../lib/rounds.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'

const { bytes: BODY } = eventBody(2000)
const JOB = { attempts: 8, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: { age: 604_800 } }
const COMPLETED = { outcome: 'completed' }

/** What bullmqInbox costs beside BullMQ without it: taking events in, and working them off. */
export async function measureBullmq({ quick }) {
  const rounds = quick ? 3 : 7
  const redis = await startRedis({ appendonly: 'yes' })
  try {
    return [
      '## BullMQ',
      'Redis with an append-only file flushed every second, 2 KB bodies. Both sides keep the bytes of the body; a bare queue does so in base64.',
      `### Accepting, against \`queue.add\` with a job id\n\n${await accepting(redis, rounds)}`,
      `### Processing, against a bare worker\n\n${await processing(redis, rounds)}`,
    ].join('\n\n')
  } finally {
    await redis.stop()
  }
}

async function accepting(redis, rounds) {
  const inbox = await started({ redis, queue: 'ours', concurrency: 0 })
  const queue = new Queue('bare', { connection: { url: redis.url } })
  const ways = { 'queue.add': () => addBare(queue), bullmqInbox: () => accept(inbox) }
  const rows = []
  for (const inFlight of [1, 64, 256]) {
    const samples = await interleave(Object.keys(ways), {
      rounds: rounds + 1,
      measure: name => keepInFlight(ways[name], { inFlight, ms: 500 }),
    })
    rows.push(...rowsOf(samples, `${inFlight} in flight`))
    await redis.client.flushall()
  }
  await inbox.close(1000)
  await queue.close()
  return table(['', 'events/s', 'ratio', 'p50 ms', 'p99 ms'], rows)
}

async function processing(redis, rounds) {
  const rows = []
  for (const concurrency of [1, 16, 64]) {
    const count = concurrency === 1 ? 500 : 4000
    const samples = await interleave(['a bare worker', 'bullmqInbox'], {
      rounds: rounds + 1,
      async measure(name) {
        const work = name === 'bullmqInbox' ? workOurs : workBare
        const perSecond = await work({ redis, concurrency, count })
        await redis.client.flushall()
        return { perSecond }
      },
    })
    rows.push(...rowsOf(samples, `concurrency ${concurrency}`).map(row => row.slice(0, 3)))
  }
  return table(['', 'events/s', 'ratio'], rows)
}

/** The first round warms up. Ratios are to the first of the names. */
function rowsOf(samples, step) {
  const speeds = name => samples.get(name).slice(1).map(sample => sample.perSecond) // biome-ignore format: one line
  const [base] = samples.keys()
  return [...samples.keys()].map(name => {
    const own = samples.get(name).slice(1)
    return [
      `${name}, ${step}`,
      showNumber(median(speeds(name))),
      showRatio(ratio(speeds(name), speeds(base))),
      showNumber(median(own.map(sample => sample.p50Ms))),
      showNumber(median(own.map(sample => sample.p99Ms))),
    ]
  })
}

async function workBare({ redis, concurrency, count }) {
  const connection = { url: redis.url }
  const queue = new Queue('work-bare', { connection })
  await inParallel(count, () => addBare(queue))
  const countdown = createCountdown(count)
  const worker = new Worker(
    'work-bare',
    async job => {
      Buffer.from(job.data.body, 'base64')
      countdown.tick()
    },
    { connection, concurrency },
  )
  const perSecond = await countdown.perSecond
  await worker.close()
  await queue.close()
  return perSecond
}

async function workOurs({ redis, concurrency, count }) {
  const receiving = await started({ redis, queue: 'work-ours', concurrency: 0 })
  await inParallel(count, () => accept(receiving))
  await receiving.close(1000)
  const countdown = createCountdown(count)
  const process = async () => {
    countdown.tick()
    return COMPLETED
  }
  const inbox = await started({ redis, queue: 'work-ours', concurrency, process })
  const perSecond = await countdown.perSecond
  await inbox.close(1000)
  return perSecond
}

/** Events a second between the first and the last: how long a worker takes to connect is not asked. */
function createCountdown(count) {
  let left = count
  let startedAt
  let resolve
  const perSecond = new Promise(done => {
    resolve = done
  })
  return {
    perSecond,
    tick() {
      startedAt ??= performance.now()
      if (--left === 0) resolve(((count - 1) / (performance.now() - startedAt)) * 1000)
    },
  }
}

function inParallel(count, work) {
  let left = count
  return Promise.all(
    Array.from({ length: 64 }, async () => {
      while (left-- > 0) await work()
    }),
  )
}

function addBare(queue) {
  const { key, body, type, receivedAt } = nextDelivery()
  return queue.add(type, { receivedAt, body: body.toString('base64') }, { ...JOB, jobId: `e-${key}` })
}

async function accept(inbox) {
  const { outcome } = await inbox.accept(nextDelivery())
  if (outcome !== 'accepted') throw new Error(`the inbox answered ${outcome}`)
}

function nextDelivery() {
  const key = randomBytes(16).toString('base64url')
  return {
    key,
    namespace: '',
    id: `evt_${key}`,
    type: 'conversation.resolved',
    body: BODY,
    fingerprint: 1,
    receivedAt: Date.now(),
  }
}

async function started({ redis, queue, concurrency, process = async () => COMPLETED }) {
  const inbox = bullmqInbox({ connection: redis.url, queue })
  await inbox.start(process, {
    acknowledge: 'immediately',
    concurrency,
    capacity: 100_000_000,
    retry: { attempts: 8, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 },
    retentionMs: 604_800_000,
    serialize: false,
    clock: Date.now,
    observe() {},
    logger: { info() {}, warn() {}, error() {} },
  })
  return inbox
}
