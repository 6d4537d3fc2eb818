import { keepInFlight } from '../lib/in-flight.mjs'
import { each, interleave, median, ratio } from '../lib/rounds.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'
import { nextDelivery, started } from './durable/inbox.mjs'
import { openPostgres, openRedis } from './growth/bullmq.mjs'
import { openSqlite } from './growth/sqlite.mjs'

const ENGINES = { sqlite: openSqlite, redis: openRedis, postgres: openPostgres }
const IN_FLIGHT = 32
const HEAD = [
  '',
  'accept p50 ms',
  'p99 ms',
  'handled/s',
  'CPU µs',
  'server CPU µs',
  'start ms',
  'stats() ms',
  'bytes each',
  'handled/s ÷ empty',
  'CPU ÷ empty',
]

const FIELDS = ['p50Ms', 'p99Ms', 'handledPerSecond', 'cpuUs', 'serverCpuUs', 'startMs', 'statsMs']

/** Measures what remembered ids and waiting events cost new events. `GROWTH_ENGINES=sqlite` measures one engine. */
export async function measureGrowth({ quick }) {
  const names = process.env.GROWTH_ENGINES?.split(',') ?? Object.keys(ENGINES)
  const found = []
  for (const name of names) {
    const engine = await ENGINES[name]()
    try {
      found.push([name, await measureEngine(engine, quick)])
    } finally {
      await engine.stop()
    }
  }
  return {
    markdown: [
      '## Growth',
      `Events of 2 KB accepted and handled, ${IN_FLIGHT} at a time, on an inbox that is new or holds so many. "Bytes each" are those of one remembered id or one waiting event. stats() is the slowest of three calls.`,
      ...found.map(([, { markdown }]) => markdown),
    ].join('\n\n'),
    figures: Object.fromEntries(found.map(([name, { figures }]) => [name, figures])),
  }
}

function statesOf(most) {
  const few = most / 10
  const name = (count, what) => `${count.toLocaleString('en-GB')} ${what}`
  return {
    empty: {},
    [name(few, 'ids')]: { ids: few },
    [name(most, 'ids')]: { ids: most },
    [name(few, 'waiting')]: { backlog: few },
    [name(most, 'waiting')]: { backlog: most },
  }
}

async function measureEngine(engine, quick) {
  const states = statesOf(quick ? 100_000 : 1_000_000)
  const bytes = new Map()
  for (const [index, [name, holds]] of Object.entries(states).entries()) {
    bytes.set(name, await engine.fill(`s${index}`, holds))
  }
  const samples = await interleave(Object.keys(states), {
    rounds: quick ? 3 : 7,
    warmUps: 1,
    async measure(name) {
      const state = `s${Object.keys(states).indexOf(name)}`
      if (name === 'empty') await engine.fill(state, {})
      return measureState(engine, state, quick ? 1000 : 2000)
    },
  })
  const base = samples.get('empty')
  const middle = (own, field) => showNumber(median(each(own, field)))
  const rows = [...samples].map(([name, own]) => [
    name,
    ...FIELDS.map(field => middle(own, field)),
    name === 'empty' ? '' : showNumber(bytes.get(name)),
    ...['handledPerSecond', 'allCpuUs'].map(field => showRatio(ratio(each(own, field), each(base, field)))),
  ])
  const figures = Object.fromEntries(
    [...samples].map(([name, own]) => [
      name,
      {
        speed: ratio(each(own, 'handledPerSecond'), each(base, 'handledPerSecond')),
        statsMs: median(each(own, 'statsMs')),
        bytes: bytes.get(name),
      },
    ]),
  )
  return { markdown: `### ${engine.title}\n\n${table(HEAD, rows)}`, figures }
}

async function measureState(engine, state, ms) {
  const inbox = engine.inbox(state)
  let handled = 0
  const process = async () => {
    handled++
    return { outcome: 'completed' }
  }
  const beganAt = performance.now()
  await started(inbox, { concurrency: IN_FLIGHT, process })
  const startMs = performance.now() - beganAt
  const stats = []
  for (let call = 0; call < 3; call++) stats.push(await timed(() => inbox.stats()))
  const before = { handled, serverCpuUs: await engine.cpuUs() }
  const load = await keepInFlight(() => deliver(inbox), { inFlight: IN_FLIGHT, ms })
  const handledInIt = handled - before.handled
  const cpuUs = (load.cpuUs * load.calls) / handledInIt
  const serverCpuUs = ((await engine.cpuUs()) - before.serverCpuUs) / handledInIt
  await inbox.close(2000)
  return {
    ...load,
    cpuUs,
    serverCpuUs,
    allCpuUs: cpuUs + serverCpuUs,
    handledPerSecond: (handledInIt / load.calls) * load.perSecond,
    startMs,
    statsMs: Math.max(...stats),
  }
}

/** Delivers an event, and resends it if it was not stored in time, as a sender does. */
async function deliver(inbox) {
  const delivery = nextDelivery()
  for (;;) {
    const { outcome, cause } = await inbox.accept(delivery)
    if (outcome === 'accepted' || outcome === 'duplicate') return
    if (outcome !== 'unavailable') throw new Error(`the inbox returned ${outcome}`, { cause })
  }
}

async function timed(work) {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
