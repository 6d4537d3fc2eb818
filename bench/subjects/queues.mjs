import { fork } from 'node:child_process'
import { once } from 'node:events'
import { startRedis, startRedisCluster } from '../lib/engines.mjs'
import { each, interleave, median, ratio } from '../lib/rounds.mjs'
import { showNumber, table } from '../lib/table.mjs'
import { nextDelivery } from './durable/inbox.mjs'

const CHILD = new URL('queues/queues-child.mjs', import.meta.url)
/** Number of queues × number of processes. */
const CONTENDERS = ['1 × 1', '2 × 1', '4 × 1', '1 × 2', '2 × 2', '4 × 2']

/**
 * Measures the events per second that one and two processes accept and handle, with one queue and with several, and the
 * busiest Redis's processor time per event: its single thread has one second of it per second.
 */
export async function measureQueues({ quick }) {
  const events = quick ? 4000 : 12_000
  const rounds = quick ? 4 : 12
  const found = []
  for (const [place, start] of [
    ['one Redis', () => startRedis({ appendonly: 'yes' })],
    ['a Redis Cluster of three nodes', () => startRedisCluster({ appendonly: 'yes' })],
  ]) {
    const server = await start()
    const urls = server.urls ?? [server.url]
    const samples = await interleave(CONTENDERS, {
      rounds,
      warmUps: 1,
      measure: name => measure(server, urls, name.split(' × ').map(Number), events),
    })
    await server.stop()
    found.push({ place, samples })
  }
  const rows = found.flatMap(({ place, samples }) =>
    CONTENDERS.map(name => {
      const [queues, processes] = name.split(' × ')
      const of = (contender, field) => each(samples.get(contender), field)
      const { middle, low, high } = ratio(of(name, 'perSecond'), of(`1 × ${processes}`, 'perSecond'))
      return [
        place,
        queues,
        processes,
        showNumber(median(of(name, 'perSecond'))),
        interval(middle, low, high),
        showNumber(median(of(name, 'busiestUs'))),
      ]
    }),
  )
  return {
    markdown: `## Many queues\n\nEvents of 2 KB accepted, 64 at a time, and handled, 16 at a time, by each process.\n\n${table(['', 'queues', 'processes', 'events/s', '÷ one queue', 'CPU µs of the busiest Redis'], rows)}`,
    figures: Object.fromEntries(found.map(({ place, samples }) => [place, Object.fromEntries(samples)])),
  }
}

function interval(middle, low, high) {
  return `${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

async function measure(server, urls, [queues, processes], events) {
  const queue = `{${nextDelivery().key}}`
  const settings = JSON.stringify({ urls, queue, queues, events: events / processes })
  const children = Array.from({ length: processes }, () => fork(CHILD, [settings], { execArgv: [] }))
  await Promise.all(children.map(child => once(child, 'message')))
  let left = events
  const done = new Promise((resolve, reject) => {
    for (const child of children) {
      child.on('exit', code => code !== 0 && reject(new Error(`a process ended with ${code}`)))
      child.on('message', handled => {
        left -= handled
        if (left === 0) resolve()
      })
    }
  })
  const before = await cpuUsOf(server)
  const beganAt = performance.now()
  for (const child of children) child.send('begin')
  await done
  const perSecond = events / ((performance.now() - beganAt) / 1000)
  const spent = (await cpuUsOf(server)).map((us, i) => us - before[i])
  const gone = children.map(child => once(child, 'exit'))
  for (const child of children) child.send('close')
  await Promise.all(gone)
  return { perSecond, busiestUs: Math.max(...spent) / events }
}

async function cpuUsOf({ servers, ...server }) {
  return Promise.all((servers ?? [server]).map(one => one.cpuUs()))
}
