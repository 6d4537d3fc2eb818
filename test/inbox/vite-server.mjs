// Serves `src/hooks.ts` of the folder it runs in through Vite, as SvelteKit, Nuxt and others do in development.
import { existsSync, readdirSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'vite'

const vite = await createServer({
  appType: 'custom',
  logLevel: 'error',
  // Polling notices each save on every machine.
  server: { middlewareMode: true, hmr: false, ws: false, watch: { usePolling: true, interval: 20 } },
})
/** Counts what keeps a process busy: threads (on Linux), timers, sockets and so on. */
function resources() {
  const counts = { threads: existsSync('/proc/self/task') ? readdirSync('/proc/self/task').length : 0 }
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

let oldest
const server = createHttpServer(async (request, response) => {
  if (request.url === '/resources') return response.end(JSON.stringify(resources()))
  try {
    const module = await vite.ssrLoadModule('/src/hooks.ts')
    oldest ??= module
    const { handle } = request.url === '/oldest' ? oldest : module
    await handle(request, response)
  } catch (error) {
    console.error(error)
    response.writeHead(500).end()
  }
})
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`))
