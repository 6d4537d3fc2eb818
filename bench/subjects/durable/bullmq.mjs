import { bullmqInbox } from '@ackhook/bullmq'
import { createPostgresBackend, Queue, Worker, withBackend } from 'bullmq'
import { compareRounds, inTurns } from '../../lib/comparison.mjs'
import { showDecided, showNumber, table } from '../../lib/table.mjs'
import { rememberOnRedis } from '../growth/bullmq.mjs'
import { compareAccepting } from './accepting.mjs'
import { accepted, nextDelivery, started } from './inbox.mjs'

/** Steps: events handled at a time, the share of the jobs to measure, and the number of ids remembered before. */
const STEPS = [
  { concurrency: 1, share: 0.2 },
  { concurrency: 16, share: 1 },
]
const BESIDE_IDS = { concurrency: 16, share: 1, ids: 1_000_000 }
const ADD = 'queue.add'
const BARE = 'bare worker'
const OURS = 'bullmqInbox'
const JOB = { attempts: 8, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: { age: 604_800 } }

const postgresOf = url => ({ connectionString: url, migrate: true })

/** Engines on which BullMQ is measured with and without the inbox. */
const ENGINES = {
  redis: {
    title: 'BullMQ on Redis',
    jobs: 6000,
    steps: [...STEPS, BESIDE_IDS],
    remember: rememberOnRedis,
    inbox: (url, queue) => bullmqInbox({ connection: url, queue }),
    queue: (url, name) => new Queue(name, { connection: { url } }),
    worker: (url, name, run, settings) => new Worker(name, run, { ...settings, connection: { url } }),
  },
  postgres: {
    title: 'BullMQ on PostgreSQL',
    jobs: 1500,
    steps: STEPS,
    inbox: (url, queue) => bullmqInbox({ postgres: postgresOf(url), queue }),
    queue: (url, name) =>
      new (withBackend(createPostgresBackend).Queue)(name, { connection: postgresOf(url) }),
    worker: (url, name, run, settings) =>
      new (withBackend(createPostgresBackend).Worker)(name, run, {
        ...settings,
        connection: postgresOf(url),
      }),
  },
}

export async function measureBullmq({ engine, server, quick }) {
  const parts = { ...ENGINES[engine], url: server.url, client: server.client }
  const accepting = await measureAccepting(parts, quick)
  const processing = await measureProcessing(parts, quick)
  return {
    markdown: [
      `### ${parts.title}, accepting`,
      'Compared with a bare `queue.add` with a job id; nothing is handled meanwhile.',
      accepting.markdown,
      `### ${parts.title}, processing`,
      'Waiting events, compared with a bare worker with the same bodies.',
      processing.markdown,
    ].join('\n\n'),
    figures: { accepting: accepting.figures, processing: processing.figures },
  }
}

async function measureAccepting({ inbox, queue, url }, quick) {
  const ours = await started(inbox(url, 'accepting-ours'))
  const bare = queue(url, 'accepting-bare')
  const ways = { [ADD]: () => addBare(bare), [OURS]: () => accepted(ours) }
  const { markdown, steps } = await compareAccepting(ways, { raw: { 1: ADD, 64: ADD }, quick })
  await ours.close(1000)
  await bare.close()
  const speed = found => found.ratioOf('perSecond', OURS, ADD)
  return { markdown, figures: { 1: speed(steps[1]), 64: speed(steps[64]) } }
}

function addBare(queue) {
  const { key, id, namespace, body, type, receivedAt } = nextDelivery()
  const data = { id, namespace, receivedAt, body: body.toString() }
  return queue.add(type, data, { ...JOB, jobId: `e-${key}` })
}

/** Measures processing: each round fills its own queue, or the one with remembered ids, and empties it. */
async function measureProcessing(parts, quick) {
  const rows = []
  const figures = {}
  for (const step of parts.steps) {
    const { concurrency, ids = 0 } = step
    const found = await compareProcessing(parts, step, quick)
    const speed = found.ratioOf('perSecond', OURS, BARE)
    const beside = ids === 0 ? '' : `, ${ids.toLocaleString('en-GB')} ids remembered`
    figures[`${concurrency} handled at a time${beside}`] = speed
    for (const name of [BARE, OURS]) {
      rows.push([
        `${name}, ${concurrency} at a time${beside}`,
        showNumber(found.middleOf('perSecond', name)),
        name === BARE ? '1' : showDecided(speed),
        name === BARE ? '' : found.lowestRatioOf('perSecond', OURS, BARE).toFixed(2),
      ])
    }
  }
  return { markdown: table(['', 'events/s', '÷ bare worker', 'worst round'], rows), figures }
}

async function compareProcessing(parts, { concurrency, share, ids = 0 }, quick) {
  const ways = { [BARE]: processBare, [OURS]: processOurs }
  const jobs = parts.jobs * share
  const remembering = ids === 0 ? undefined : `remembering-${ids}`
  if (remembering !== undefined) {
    const inbox = await started(parts.inbox(parts.url, remembering))
    await parts.remember(parts.client, inbox, remembering, ids)
    await inbox.close(1000)
  }
  const queueOf = (name, round) =>
    (name === OURS && remembering) || `work-${name.replace(' ', '-')}-${concurrency}-${ids}-${round}`
  const measure = async (name, round) => ({
    perSecond: await ways[name]({ ...parts, jobs, concurrency }, queueOf(name, round)),
  })
  for (const name of Object.keys(ways)) await measure(name, 'warm-up')
  return compareRounds(inTurns(Object.keys(ways), measure), {
    quick,
    ...{ fewest: 6, most: 60, seconds: 80 },
    decides: [['perSecond', OURS, BARE]],
  })
}

async function processBare({ queue, worker, url, jobs, concurrency }, name) {
  const bare = queue(url, name)
  await inGroups(jobs, () => addBare(bare))
  const watch = stopwatch(jobs)
  const run = async job => {
    if (job.data.body.length < 1000) throw new Error('a body was lost')
    watch.tick()
  }
  const working = worker(url, name, run, { concurrency })
  const perSecond = await watch.perSecond
  await working.close()
  await bare.close()
  return perSecond
}

async function processOurs({ inbox, url, jobs, concurrency }, name) {
  const receiving = await started(inbox(url, name))
  await inGroups(jobs, () => deliver(receiving))
  await receiving.close(1000)
  const watch = stopwatch(jobs)
  const process = async () => {
    watch.tick()
    return { outcome: 'completed' }
  }
  const working = await started(inbox(url, name), { concurrency, process })
  const perSecond = await watch.perSecond
  await working.close(5000)
  return perSecond
}

/** Delivers an event, and repeats it if refused, as its sender would. Filling is not measured. */
async function deliver(inbox) {
  const delivery = nextDelivery()
  while ((await inbox.accept(delivery)).outcome === 'unavailable');
}

async function inGroups(count, add) {
  for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, add))
}

/** Times the span from the first event to the last, so that connecting does not count. */
function stopwatch(count) {
  let first = 0
  let ticks = 0
  let finish
  const perSecond = new Promise(resolve => {
    finish = resolve
  })
  return {
    perSecond,
    tick() {
      if (ticks++ === 0) first = performance.now()
      if (ticks === count) finish(((count - 1) * 1000) / (performance.now() - first))
    },
  }
}
