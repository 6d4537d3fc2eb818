import { monitorEventLoopDelay } from 'node:perf_hooks'
import { work } from '../lib/handler.mjs'
import { startProfile } from '../lib/profiler.mjs'

/** The child process of a server: `serve.mjs <module> <variant>`. Replies to questions about itself. */
const [module, variant] = process.argv.slice(2)
const { listen } = await import(`./${module}.mjs`)
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
let stopProfile
process.on('message', async question => {
  if (question === 'profile cpu' || question === 'profile heap') {
    stopProfile = await startProfile(question.replace('profile ', ''))
  }
  if (question === 'profiled') return process.send(await stopProfile())
  if (question === 'reset') loop.reset()
  if (question === 'collect') globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  return process.send({
    cpuUs: user + system,
    memory: process.memoryUsage(),
    handled: work.handled,
    loopP99Ms: loop.percentile(99) / 1e6,
  })
})
process.on('disconnect', () => process.exit())
process.send({ port: await listen(variant) })
