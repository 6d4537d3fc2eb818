/**
 * `round-child.mjs <sizes as JSON>`: one round of `verify` in a new process. Sends each contender's nanoseconds of
 * processor time per call: the clock would count other processes' turns too.
 */
import { eventBody } from '../../lib/event-body.mjs'
import { createContenders } from './contenders.mjs'

/** Short slices: other load on the machine slows all contenders equally. */
const SLICE_MS = 1
/** Effort per size: large bodies take more than a slice, so they get fewer. `calls`: calls between two clock reads. */
const SMALL = { warmUps: 50, slices: 150, calls: 4 }
const LARGE = { warmUps: 15, slices: 30, calls: 1 }
const LARGEST_SMALL = 2000

const result = {}
for (const size of JSON.parse(process.argv[2])) {
  const body = eventBody(size).bytes
  const effort = size > LARGEST_SMALL ? LARGE : SMALL
  result[size] = await measure(await createContenders(body), effort)
}
process.send(result, () => process.exit())

async function measure(contenders, { warmUps, slices, calls }) {
  const sums = new Map([...contenders].map(([name, run]) => [name, { run, ns: 0, calls: 0 }]))
  const names = [...contenders.keys()]
  for (let slice = -warmUps; slice < slices; slice++) {
    if (slice === 0) for (const sum of sums.values()) Object.assign(sum, { ns: 0, calls: 0 })
    for (const name of slice % 2 === 0 ? names : names.toReversed()) await measureSlice(sums.get(name), calls)
  }
  return Object.fromEntries([...sums].map(([name, { ns, calls }]) => [name, { ns: ns / calls }]))
}

/** Measures one slice. Awaits each promise, as a user would. */
async function measureSlice(sum, atOnce) {
  const { run } = sum
  const before = process.cpuUsage()
  const until = performance.now() + SLICE_MS
  const first = run()
  const waits = first instanceof Promise
  if (waits) await first
  let calls = 1
  do {
    for (let i = 0; i < atOnce; i++) {
      if (waits) await run()
      else run()
    }
    calls += atOnce
  } while (performance.now() < until)
  const { user, system } = process.cpuUsage(before)
  sum.ns += (user + system) * 1000
  sum.calls += calls
}
