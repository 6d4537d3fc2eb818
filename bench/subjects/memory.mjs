import { eventBody } from '../lib/event-body.mjs'
import { Sender } from '../lib/sender.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, table } from '../lib/table.mjs'
import { measureHour } from './memory/hour.mjs'
import { measureIds } from './memory/ids.mjs'
import { watchResident } from './memory/resident.mjs'

/** Measures the cost of a remembered id, and a process's memory under load. */
export async function measureMemory({ quick }) {
  const ids = await measureIds(quick)
  const hour = await measureHour()
  const perEvent = await measurePerEvent(quick ? 6 : 16)
  const flat = await watchResident({ seconds: quick ? 12 : 40 })
  return {
    markdown: ['## Memory', ids.markdown, hour.markdown, perEvent, flat.markdown].join('\n\n'),
    figures: { ids: ids.figures, hour: hour.figures, flat: flat.figures },
  }
}

/** Loads a server in two halves, and measures how much the second half adds to the settled heap. */
async function measurePerEvent(seconds) {
  const rows = []
  for (const variant of ['hand-written', 'ackhook']) {
    const server = await startServer('node-http', variant, { execArgv: ['--expose-gc'] })
    const sender = await Sender.open({ port: server.port, body: eventBody(2000) })
    const run = () => sender.load(seconds / 2, [])
    const { answered: first } = await run()
    const half = await server.ask('collect')
    const { answered: second } = await run()
    const loaded = await server.ask('state')
    const end = await server.ask('collect')
    const grown = (heldBytes(end) - heldBytes(half)) / second
    rows.push([
      variant,
      showNumber(first + second),
      Math.round(loaded.memory.rss / 1e6),
      Math.round(heldBytes(end) / 1e6),
      Math.round(grown),
    ])
    sender.close()
    await server.stop()
  }
  const head = ['', 'events', 'RSS MB under load', 'MB held after it', 'bytes held an event, second half']
  return `### Under load\n\n\`node:http\`, 2 KB bodies, ${seconds} s of load. Both remember up to a million ids. Their memory, typed arrays included, grows only with these, by doubling.\n\n${table(head, rows)}`
}

/** Sums heap and buffers, which are not part of the heap. */
function heldBytes({ memory }) {
  return memory.heapUsed + memory.external
}
