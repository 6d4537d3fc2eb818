/** `hour-child.mjs <options as JSON>`: sends an hour of events through one receiver. Prints the heap after each quarter. */
import { createReceiver, memoryStore } from '@ackhook/core'
import { deliver, signedEvents } from '../../lib/deliver.mjs'
import { SECRET } from '../../lib/dialects.mjs'
import { settledHeap } from '../../lib/settled-heap.mjs'

const PER_SECOND = 50
const QUARTER_S = 900
const { maxIds, ...options } = JSON.parse(process.argv[2])

// The store uses the monotonic clock, which advances by ten seconds after ten seconds' worth of events.
const realNow = performance.now.bind(performance)
let ahead = 0
performance.now = () => realNow() + ahead

const store = memoryStore(maxIds === undefined ? {} : { maxIds })
const receiver = createReceiver({ secret: SECRET, capacity: 1_000_000, store, ...options })
receiver.on('conversation.resolved', () => {})
await pass(60)
const idle = settledHeap()
const heap = []
for (let quarter = 0; quarter < 4; quarter++) {
  await pass(QUARTER_S)
  heap.push(settledHeap() - idle)
}
process.stdout.write(JSON.stringify({ events: 4 * QUARTER_S * PER_SECOND, heap }))
process.exit()

async function pass(seconds) {
  for (let second = 0; second < seconds; second += 10) {
    await deliver(receiver, signedEvents(10 * PER_SECOND))
    ahead += 10_000
  }
}
