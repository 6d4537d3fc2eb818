/** `idle-child.mjs bare | ackhook`: sends the resident memory of a process that listens and has not had a request. */
import { createServer } from 'node:http'

/** Until what has started together with the process has ended. */
const SETTLING_MS = 300
optimizeSomething()
const listener = process.argv[2] === 'bare' ? (_request, response) => response.end() : await ours()
const server = createServer(listener)
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
await new Promise(resolve => setTimeout(resolve, SETTLING_MS))
process.send({ mb: process.memoryUsage().rss / 1e6 }, () => process.exit())

async function ours() {
  const { createReceiver } = await import('@ackhook/core')
  const { toNodeHandler } = await import('@ackhook/core/node')
  const receiver = createReceiver({ secret: 'whsec_bench_0123456789abcdef' })
  receiver.on('conversation.resolved', () => {})
  return toNodeHandler(receiver)
}

/**
 * Makes V8 load its optimizing compiler, 4 MB of Node's own code, as the first requests of any server do. Otherwise it
 * depends on the length of the paths of what is imported whether the import does: Node's loop over them becomes hot.
 */
function optimizeSomething() {
  let sum = 0
  for (let i = 0; i < 1e6; i++) sum += i % 7
  return sum
}
