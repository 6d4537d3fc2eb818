// Serves a page from its sources, and reloads it on each change. What it asks for goes to a server that runs already:
// `npm run dev [emulator|dashboard] [address]`
import { createServer } from 'vite'
import { pageOptions } from './page-options.mjs'

const DEFAULTS = { emulator: 'http://localhost:4400', dashboard: 'http://localhost:3000/webhooks-dashboard/' }
const [page = 'emulator', address = DEFAULTS[page]] = process.argv.slice(2)
if (!Object.hasOwn(DEFAULTS, page)) throw new Error(`'${page}' is no page: name emulator or dashboard`)
const { origin, pathname } = new URL(address)
const proxy = {
  target: origin,
  changeOrigin: true,
  rewrite: path => pathname.replace(/\/$/, '') + path,
  // The server takes requests from its own page alone.
  configure: server => server.on('proxyReq', request => request.setHeader('origin', origin)),
}
const paths = page === 'emulator' ? ['/_emulator', '/v1'] : ['/api']
const server = await createServer({
  ...pageOptions(page),
  // Reachable from this machine alone, as what it passes on to is.
  server: { host: 'localhost', port: 5173, proxy: Object.fromEntries(paths.map(path => [path, proxy])) },
})
await server.listen()
server.printUrls()
