// The receiver under fault: plain Node on the built packages, in its own process that can be killed. Its settings come
// as JSON in the first argument. Every attempt is written to a ledger before anything can happen to it: data appended to
// a file survives the process.
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { getHeapSpaceStatistics } from 'node:v8'
import { createReceiver, memoryInbox } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { sqliteInbox } from '@ackhook/sqlite'

const settings = JSON.parse(process.argv[2])
const { mode, ledger, database, killAt, workMs = 0, options = {}, lease = '1s' } = settings

const write = (...fields) => appendFileSync(ledger, `${fields.join(' ')}\n`)
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
const die = () => process.kill(process.pid, 'SIGKILL')
const dieAt = point => {
  if (killAt === point) die()
}

const INBOXES = {
  memory: () => memoryInbox(),
  after: () => memoryInbox(),
  sqlite: () => sqliteInbox({ path: database, lease, poll: '50ms' }),
  // Loaded only if needed: it accounts for most of the start.
  async bullmq() {
    const { bullmqInbox } = await import('@ackhook/bullmq')
    return bullmqInbox({ ...settings.engine, queue: settings.queue, lease })
  },
}

/** Observations after which the sender does not repeat the event. */
const PROMISES = ['accepted', 'duplicate']

const inbox = watched(await INBOXES[mode]())
const receiver = createReceiver({
  secret: settings.secret,
  inbox,
  ...(mode === 'after' && { acknowledge: 'after-processing' }),
  // Called after verification and before the inbox receives the event.
  namespace: () => {
    dieAt('after-verify')
    return ''
  },
  observe: ({ kind, id }) => {
    if (settings.tellsPromises && PROMISES.includes(kind)) write('promised', id)
    if (kind === 'accepted') dieAt('before-reply')
  },
  logger: { info() {}, warn() {}, error() {} },
  ...options,
})

for (const pattern of settings.patterns ?? ['*']) receiver.on(pattern, handlerOf(pattern))

function handlerOf(pattern) {
  return async (event, { attempt, signal }) => {
    if (settings.patterns !== undefined) write('by', event.id, pattern)
    await handle(event, { attempt, signal })
  }
}

async function handle(event, { attempt, signal }) {
  write('begin', event.id, attempt)
  await misbehave(event.data.behavior, attempt, event.id, signal)
  if (killAt === 'mid-handler') {
    // Waits long enough for the reply, unless it waits for the handlers.
    await sleep(200)
    die()
  }
  if (workMs > 0) await sleep(workMs)
  write('done', event.id, attempt)
}

receiver.onDeadLetter(({ delivery }, event) => {
  write('dead', delivery.id)
  if (event?.data.behavior === 'exit-always') process.exit(1)
})

async function misbehave(behavior, attempt, id, signal) {
  if (behavior === 'throw' && attempt < 3) throw new Error('thrown on purpose')
  // Never settles by itself. One that ignored its signal would keep its event for a minute.
  if (behavior === 'hang' && attempt < 3) {
    await once(signal, 'abort')
    throw signal.reason
  }
  if (behavior === 'exit' || behavior === 'exit-always') process.exit(1)
  if (behavior?.blockMs > 0 && attempt === 1 && !settings.steady) {
    const until = performance.now() + behavior.blockMs
    while (performance.now() < until || (behavior.untilDone && !isDone(id))) blockFor(10)
  }
}

/** Blocks the event loop without using the processor. */
function blockFor(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Returns whether another process has handled the event, without yielding to the event loop. */
const isDone = id => readFileSync(ledger, 'utf8').includes(`done ${id} `)

/** Wraps the inbox to act on the moments between its steps. */
function watched(inbox) {
  return {
    ...inbox,
    async accept(delivery) {
      const acceptance = await inbox.accept(delivery)
      dieAt('after-accept')
      return acceptance
    },
    start(work, policy) {
      return inbox.start(async (delivery, attempt) => {
        const result = await work(delivery, attempt)
        if (result.outcome === 'completed') {
          dieAt('before-complete')
          if (killAt === 'after-complete') void dieOnceRecorded(inbox)
        }
        return result
      }, policy)
    },
  }
}

async function dieOnceRecorded(inbox) {
  for (;;) {
    const { active, pending } = await inbox.stats()
    if (active + pending === 0) break
    await sleep(5)
  }
  // A reply that waited for the handlers is sent at the same time.
  await sleep(100)
  die()
}

/** Returns the bytes in old space, including garbage that waits for a full collection. */
const oldBytes = () =>
  getHeapSpaceStatistics().find(space => space.space_name === 'old_space').space_used_size

/** Returns the live bytes, without garbage. */
function liveBytes() {
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const respond = toNodeHandler(receiver)
// Never closes idle connections: on a busy machine, a sender would use one at that moment and get a reset.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  response.on('finish', () => dieAt('after-reply'))
  respond(request, response)
})

async function stats() {
  const counts = await receiver.stats()
  if (settings.tellsPromises && counts.pending + counts.active === 0) write('idle')
  return counts
}

process.on('message', async message => {
  if (message === 'rss') process.send({ rss: process.memoryUsage.rss() })
  if (message === 'live') process.send({ live: liveBytes() })
  if (message === 'old') process.send({ old: oldBytes() })
  if (message === 'stats') process.send({ stats: await stats() })
  if (message === 'processes') process.send({ processes: await inbox.processes() })
})
// A failed test must not leave its receiver running.
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', async () => {
  write('draining', Date.now())
  await receiver.close({ timeout: '10s' })
  server.closeAllConnections()
  process.exit(0)
})

await receiver.start()
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
