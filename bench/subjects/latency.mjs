import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { inboxNames, withServers } from '../lib/inboxes.mjs'
import { percentile } from '../lib/interval.mjs'
import { offer, openLoaded, rateOf } from '../lib/offered.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const MEMORY = 'memory'
const SHARES = [0.5, 0.99, 0.999]
const RATES = ['', 'accepted/s', '÷ memory', 'p99 ms', 'event loop p99 ms', 'accepted and handled/s']
const LATENCIES = [
  '',
  'events/s',
  ...['202', 'handler'].flatMap(what => ['p50', 'p99', 'p99.9'].map(share => `${what}: ${share} ms`)),
]

/** Measures what each inbox accepts and handles over HTTP, and then its latencies at half of that, in the same processes. */
export async function measureLatency({ quick, inboxes = inboxNames }) {
  return withServers(async ({ places }) => {
    const loaded = new Map()
    for (const inbox of inboxes) loaded.set(inbox, await openLoaded(inbox, { places }))
    try {
      const found = await rates(loaded, quick)
      const latencies = new Map()
      for (const [inbox, one] of loaded) {
        const perSecond = found.middleOf('handledPerSecond', inbox) / 2
        latencies.set(inbox, { perSecond, ...(await latenciesAt(one, perSecond, quick ? 5 : 60)) })
      }
      return report(inboxes, found, latencies)
    } finally {
      for (const { stop } of loaded.values()) await stop()
    }
  })
}

async function rates(loaded, quick) {
  const inboxes = [...loaded.keys()]
  const measure = async (inbox, seconds = 0.5) => {
    const { latencies, ...rate } = await rateOf(loaded.get(inbox), seconds)
    return { ...rate, p99Ms: percentile(latencies, 0.99) }
  }
  for (const inbox of inboxes) await measure(inbox, 1)
  return compareRounds(
    inTurns(inboxes, inbox => measure(inbox)),
    {
      quick,
      ...{ fewest: 8, most: 40, seconds: 150 },
      decides: inboxes.includes(MEMORY) ? inboxes.map(one => ['acceptedPerSecond', one, MEMORY]) : [],
    },
  )
}

/** Arrivals at a fixed rate: a server that stops for a moment delays all that should have arrived meanwhile. */
async function latenciesAt(one, perSecond, seconds) {
  const count = Math.round(perSecond * seconds)
  const replies = new Float64Array(count)
  const { begin, beganAt } = await offer(one, {
    ...{ perSecond, count, times: true },
    answered: (index, ms) => {
      replies[index] = ms
    },
  })
  const starts = beganAt.map((at, index) => at - begin - (index * 1000) / perSecond)
  const sharesOf = values => SHARES.map(share => percentile(values, share))
  return { reply: sharesOf(replies), handler: sharesOf(starts) }
}

function report(inboxes, found, latencies) {
  const toMemory = inbox =>
    inboxes.includes(MEMORY) ? found.ratioOf('acceptedPerSecond', inbox, MEMORY) : undefined
  const rateRows = inboxes.map(inbox => {
    const middle = field => showNumber(found.middleOf(field, inbox))
    const ratio = inbox === MEMORY ? '1' : inboxes.includes(MEMORY) ? showDecided(toMemory(inbox)) : '–'
    return [
      ...[inbox, middle('acceptedPerSecond'), ratio, middle('p99Ms'), middle('loopP99Ms')],
      middle('handledPerSecond'),
    ]
  })
  const latencyRows = [...latencies].map(([inbox, { perSecond, reply, handler }]) => [
    inbox,
    ...[perSecond, ...reply, ...handler].map(showNumber),
  ])
  return {
    markdown: [
      '## Latency',
      '`node:http`, events of 2 KB over 64 connections; receiver, load and servers share the machine.',
      '### As fast as replies arrive',
      table(RATES, rateRows),
      '### At half of the rate that it handles',
      'Arrivals at a fixed rate, each timed from the moment at which it was due, to its 202 and to the begin of its handler; up to a millisecond of it is the load’s own timer. Each run ends with an exact count: as many sent as acknowledged, and each handled once.',
      table(LATENCIES, latencyRows),
    ].join('\n\n'),
    figures: Object.fromEntries(
      inboxes.map(inbox => [
        inbox,
        {
          toMemory: toMemory(inbox),
          acceptedPerSecond: found.intervalOf('acceptedPerSecond', inbox),
          handledPerSecond: found.intervalOf('handledPerSecond', inbox),
          ...latencies.get(inbox),
        },
      ]),
    ),
  }
}
