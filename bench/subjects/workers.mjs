import { fork } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createReceiver } from '@ackhook/core'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { openInbox, withServers } from '../lib/inboxes.mjs'
import { signedEvents } from '../lib/signed-events.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const CHILD = new URL('workers/worker-child.mjs', import.meta.url)
const CPU_MS = 5
const CORES = 2
const EVENTS_OF_A_CORE = 250
const PROCESSES = ['1', '2', '3', '4']
const INBOXES = ['sqliteInbox', 'bullmqInbox on Redis', 'bullmqInbox on PostgreSQL']

/** Measures how fast several processes on two cores handle one backlog, with nothing else running. */
export async function measureWorkers({ quick }) {
  const hashes = hashesOf(CPU_MS)
  return withServers(async ({ places, serverOf }) => {
    const rows = []
    const figures = {}
    for (const inbox of INBOXES) {
      const cpuUs = serverOf(inbox)?.cpuUs ?? (async () => 0)
      const { cells, ...found } = await measureEngine({ inbox, places, cpuUs, hashes }, quick)
      rows.push([inbox, ...cells, `${Math.round(found.serverShare * 100)} %`])
      figures[inbox] = found
    }
    const counts = PROCESSES.map(count => `${count} ${count === '1' ? 'process' : 'processes'}`)
    return {
      markdown: [
        '## Several processes, one backlog',
        `Events/s of a backlog whose handlers take ${CPU_MS} ms of processor time, with the ratio to one process, on ${CORES} cores. Bodies of 2 KB. The share is the server's part of the cores while two processes run.`,
        table(['', ...counts, 'share of the server'], rows),
      ].join('\n\n'),
      figures,
    }
  })
}

async function measureEngine(engine, quick) {
  const measure = (count, round) =>
    measureBacklog({ ...engine, queue: `backlog-${count}-${round}` }, Number(count))
  const found = await compareRounds(inTurns(PROCESSES, measure), {
    quick,
    ...{ fewest: 5, most: 60, seconds: 300 },
    decides: [['perSecond', '2', '1']],
  })
  return {
    speedUp: found.ratioOf('perSecond', '2', '1'),
    serverShare: found.middleOf('serverShare', '2'),
    cells: PROCESSES.map(count => {
      const speed = showNumber(found.middleOf('perSecond', count))
      return count === '1' ? speed : `${speed}; ${showDecided(found.ratioOf('perSecond', count, '1'))}`
    }),
  }
}

async function measureBacklog({ inbox, places, queue, hashes, cpuUs }, count) {
  const events = EVENTS_OF_A_CORE * Math.min(CORES, count)
  await fill(await openInbox(inbox, places, queue), events)
  const children = Array.from({ length: count }, () =>
    fork(CHILD, [inbox, JSON.stringify(places), queue, String(hashes)], { execArgv: [] }),
  )
  const ended = children.map(() => [])
  let left = events
  let before
  await new Promise((resolve, reject) => {
    for (const [i, child] of children.entries()) {
      child.on('exit', code => code !== 0 && reject(new Error(`a worker on ${inbox} ended with ${code}`)))
      child.on('message', at => {
        before ??= cpuUs()
        ended[i].push(at)
        if (--left === 0) resolve()
      })
    }
  })
  const serverUs = (await cpuUs()) - (await before)
  const gone = children.map(child => once(child, 'exit'))
  for (const child of children) child.send('close')
  await Promise.all(gone)
  const all = ended.flat().sort((a, b) => a - b)
  return { perSecond: rateOf(ended), serverShare: serverUs / ((all.at(-1) - all[0]) * 1000 * CORES) }
}

/** Returns the rate while all processes work: not while some are starting or have finished. */
function rateOf(ended) {
  const from = Math.max(...ended.map(times => times[0]))
  const to = Math.min(...ended.map(times => times.at(-1)))
  const within = ended.flat().filter(at => at > from && at <= to).length
  return within / ((to - from) / 1000)
}

async function fill(options, count) {
  const receiver = createReceiver({ secret: SECRET, concurrency: 0, ...options })
  receiver.on('conversation.resolved', () => {})
  const replies = await Promise.all(signedEvents(count, 2000).map(request => receiver.handle(request)))
  if (replies.some(({ status }) => status !== 202)) throw new Error('the inbox refused an event')
  await receiver.close()
}

/** Returns a fixed amount of work that takes `ms`. With a span of time, processes waiting for a core would seem to work. */
function hashesOf(ms) {
  const block = Buffer.alloc(65_536)
  const costs = Array.from({ length: 20 }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < 200; i++) hash('sha256', block, 'hex')
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 200
  })
  return Math.round((ms * 1000) / Math.min(...costs))
}
