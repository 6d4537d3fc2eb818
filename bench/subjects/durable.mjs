import { setTimeout } from 'node:timers/promises'
import { createReceiver } from '@ackhook/core'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { openInbox, withServers } from '../lib/inboxes.mjs'
import { signedEvents } from '../lib/signed-events.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'
import { BY_HAND } from './durable/by-hand.mjs'

const HAND = 'by hand'
const OURS = 'ackhook'
const IN_FLIGHT = 64
const CONCURRENCY = 16
/** Events of a round. */
const EVENTS = 6000
const EVENTS_ON_POSTGRES = 1500
/** Rounds of each way, until its code is compiled. */
const WARM_UPS = 4
const DEADLINE_MS = 120_000
const QUIET = { info() {}, warn() {}, error() {} }
const HEAD = [
  ...['', 'events/s by hand', 'events/s', 'ratio', 'CPU µs by hand', 'CPU µs', 'ratio'],
  'of it in the server',
]

/** Compares accepting and handling events in one run with the same work by hand on the bare engine. */
export async function measureDurable({ quick, inboxes, seconds = 150 }) {
  return withServers(async servers => {
    const rows = []
    const figures = {}
    for (const inbox of Object.keys(BY_HAND).filter(one => inboxes?.includes(one) ?? true)) {
      const found = await compare(inbox, { ...servers, quick, seconds })
      const [speed, cpu] = ['perSecond', 'cpuUs'].map(field => found.ratioOf(field, OURS, HAND))
      const cells = (field, ratio) => [
        ...[HAND, OURS].map(way => showNumber(found.middleOf(field, way))),
        showDecided(ratio),
      ]
      const serverUs = found.middleOf('serverUs', OURS)
      rows.push([inbox, ...cells('perSecond', speed), ...cells('cpuUs', cpu), showNumber(serverUs)])
      figures[inbox] = { speed, cpu, perSecond: found.intervalOf('perSecond', OURS), serverUs }
    }
    const about = `Signed events of 2 KB, accepted ${IN_FLIGHT} at a time and handled ${CONCURRENCY} at a time in one process, until the last one is handled. By hand: the same on the bare engine (\`bench/subjects/durable/by-hand.mjs\`), as durable, but without leases, time limits, a drain, or anything for several processes. CPU: processor time of an event, in the process and in the server. Each run ends with an exact count: as many events sent as acknowledged, and each handled once. Redis ${servers.redis.version} with an append-only file flushed every second, PostgreSQL ${servers.postgres.version} with its defaults, both on the same machine.`
    return { markdown: ['## Durable inboxes', about, table(HEAD, rows)].join('\n\n'), figures }
  })
}

async function compare(inbox, { places, redis, serverOf, quick, seconds }) {
  const server = serverOf(inbox)
  const events = (server?.query ? EVENTS_ON_POSTGRES : EVENTS) / (quick ? 3 : 1)
  const open = {
    [HAND]: BY_HAND[inbox],
    [OURS]: async (_places, name, settings) => openReceiver(await openInbox(inbox, places, name), settings),
  }
  const measure = async (way, round) => {
    const name = `${way === OURS ? 'ours' : 'bare'}-${events}-${round}`
    const cpuUs = server?.cpuUs ?? (async () => 0)
    const result = await countedRun(settings => open[way](places, name, settings), { events, cpuUs })
    await redis.client.flushall()
    return result
  }
  for (let round = 0; round < WARM_UPS; round++)
    for (const way of [HAND, OURS]) await measure(way, `warm-up-${round}`)
  return compareRounds(inTurns([HAND, OURS], measure), {
    quick,
    ...{ fewest: 8, most: 40, seconds },
    decides: [
      ['perSecond', OURS, HAND],
      ['cpuUs', OURS, HAND],
    ],
  })
}

async function openReceiver(options, { handle, concurrency }) {
  const receiver = createReceiver({
    ...{ secret: SECRET, capacity: 1_000_000, logger: QUIET, concurrency },
    ...options,
  })
  receiver.on('conversation.resolved', handle)
  await receiver.start()
  return {
    accept: async request => (await receiver.handle(request)).status === 202,
    close: () => receiver.close(),
  }
}

/** Accepts and handles events. Throws unless as many are acknowledged as were sent, and each is handled once. */
export async function countedRun(open, { events, cpuUs, deadlineMs = DEADLINE_MS }) {
  const requests = signedEvents(events, 2000)
  const runs = new Map()
  let finish
  const finished = new Promise(resolve => {
    finish = resolve
  })
  const handle = async ({ id }) => {
    await undefined
    runs.set(id, (runs.get(id) ?? 0) + 1)
    if (runs.size === events) finish()
  }
  const way = await open({ handle, concurrency: CONCURRENCY })
  const serverBefore = await cpuUs()
  const before = process.cpuUsage()
  const beganAt = performance.now()
  let sent = 0
  let acknowledged = 0
  const lane = async () => {
    while (sent < events) {
      const request = requests[sent++]
      // A refused delivery is sent again, as its platform would.
      while (!(await way.accept(request))) await setTimeout(1)
      acknowledged++
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  await Promise.race([finished, setTimeout(deadlineMs, undefined, { ref: false })])
  const seconds = (performance.now() - beganAt) / 1000
  const { user, system } = process.cpuUsage(before)
  const serverUs = (await cpuUs()) - serverBefore
  await way.close()
  const once = [...runs.values()].filter(count => count === 1).length
  if (acknowledged !== events || once !== events || runs.size !== events) {
    throw new Error(
      `${events} events were sent, ${acknowledged} acknowledged, ${runs.size} handled, ${once} of them once`,
    )
  }
  return {
    perSecond: events / seconds,
    cpuUs: (user + system + serverUs) / events,
    serverUs: serverUs / events,
  }
}
