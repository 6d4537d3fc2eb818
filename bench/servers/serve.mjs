import { EventEmitter } from 'node:events'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, promiseHooks } from 'node:v8'
import { keepLedger, readLedger, work } from '../lib/handler.mjs'

/** The child process of a server: `serve.mjs <module> <variant>`. Replies to questions about itself. */
const [module, variant] = process.argv.slice(2)
const { listen } = await import(`./${module}.mjs`)
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
const made = { promises: 0, listeners: 0, collections: 0 }
new PerformanceObserver(list => (made.collections += list.getEntries().length)).observe({ type: 'gc' })
process.on('message', question => {
  if (question === 'ledger') return process.send(readLedger())
  if (question.keepLedger) keepLedger(question.keepLedger)
  if (question === 'reset') loop.reset()
  if (question === 'collect') globalThis.gc?.()
  if (question === 'count') countPromisesAndListeners()
  const { user, system } = process.cpuUsage()
  return process.send({
    cpuUs: user + system,
    memory: process.memoryUsage(),
    heapBytes: getHeapStatistics().used_heap_size,
    ...made,
    handled: work.handled,
    loopP99Ms: loop.percentile(99) / 1e6,
  })
})
process.on('disconnect', () => process.exit())
process.send({ port: await listen(variant) })

/** Counts from now on, which makes each request slower and larger. */
function countPromisesAndListeners() {
  promiseHooks.onInit(() => made.promises++)
  for (const name of ['on', 'addListener', 'prependListener']) {
    const add = EventEmitter.prototype[name]
    EventEmitter.prototype[name] = function (...listener) {
      made.listeners++
      return add.apply(this, listener)
    }
  }
}
