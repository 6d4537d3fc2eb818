import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { table } from '../../lib/table.mjs'

const CHILD = fileURLToPath(new URL('hour-child.mjs', import.meta.url))
const CASES = [
  ['ids kept for 7 days (default)', {}],
  ['ids kept for 10 minutes', { retention: '10m' }],
  ['at most 30,000 ids', { maxIds: 30_000 }],
]

/** Measures the heap after one simulated hour of 50 events per second. */
export async function measureHour() {
  const found = CASES.map(([name, options]) => {
    const answer = execFileSync(process.execPath, [CHILD, JSON.stringify(options)], { encoding: 'utf8' })
    return [name, JSON.parse(answer)]
  })
  const [[, whole]] = found
  const megabytes = bytes => (bytes / 1e6).toFixed(1)
  const rows = found.map(([name, { events, heap }]) => [
    name,
    events.toLocaleString('en-GB'),
    ...heap.map(megabytes),
    Math.round(heap.at(-1) / events),
  ])
  const head = [
    '',
    'events',
    ...[15, 30, 45, 60].map(minute => `heap MB after ${minute} min`),
    'bytes per event',
  ]
  return {
    markdown: `### One hour's traffic\n\n50 events a second for an hour, in process, with an accelerated clock; heap above that of the idle receiver. An expired id is removed when its space is needed, at a million ids unless \`memoryStore({ maxIds })\` sets another limit: a shorter retention alone does not reduce the heap.\n\n${table(head, rows)}`,
    figures: { bytesPerEvent: whole.heap.at(-1) / whole.events, events: whole.events },
  }
}
