import { setTimeout } from 'node:timers/promises'
import { eventBody } from '../../lib/event-body.mjs'
import { median } from '../../lib/rounds.mjs'
import { Sender } from '../../lib/sender.mjs'
import { startServer } from '../../lib/server.mjs'
import { table } from '../../lib/table.mjs'

const PER_SECOND = 4000
const TICKS_PER_SECOND = 100
const IDS = 50_000
/** Seconds until all room for ids is used and the code is compiled. */
const WARM_UP_S = 20
const SAMPLES = 20

/**
 * Measures resident memory under a steady load. The warm-up fills the limited memory of ids, so any growth after it is a
 * leak. The figure is the last quarter's median divided by the first quarter's.
 */
export async function watchResident({ seconds }) {
  const env = { BENCH_MAX_IDS: String(IDS) }
  const server = await startServer('node-http', 'ackhook, few ids', { env })
  const sender = await Sender.open({ port: server.port, body: eventBody(2000) })
  const run = duration => loadSteadily(sender, duration)
  await run(WARM_UP_S)
  const resident = []
  for (let sample = 0; sample < SAMPLES; sample++) {
    await run(seconds / SAMPLES)
    resident.push((await server.ask('state')).memory.rss / 1e6)
  }
  sender.close()
  await server.stop()
  const quarter = SAMPLES / 4
  const [first, last] = [median(resident.slice(0, quarter)), median(resident.slice(-quarter))]
  const lowest = Math.min(...resident)
  const highest = Math.max(...resident)
  const rows = [[PER_SECOND, seconds, ...[first, last, lowest, highest].map(Math.round)]]
  const head = ['events/s', 'seconds', 'first quarter MB', 'last quarter MB', 'lowest', 'highest']
  return {
    markdown: `### Resident memory\n\nA steady load with at most ${IDS.toLocaleString('en-GB')} remembered ids, after ${WARM_UP_S} s of warm-up. Medians of the first and the last quarter.\n\n${table(head, rows)}`,
    figures: { growth: last / first, seconds },
  }
}

async function loadSteadily(sender, seconds) {
  const start = performance.now()
  for (let tick = 1; tick <= seconds * TICKS_PER_SECOND; tick++) {
    await sender.send(PER_SECOND / TICKS_PER_SECOND)
    await setTimeout(Math.max(0, start + (tick * 1000) / TICKS_PER_SECOND - performance.now()))
  }
}
