// Serves a page from its sources, and reloads it on each change. API calls go to a running server:
// `npm run dev [emulator|dashboard] [address]`
import { createServer } from 'vite'
import { pageOptions } from './page-options.mjs'

const DEFAULTS = { emulator: 'http://localhost:4400', dashboard: 'http://localhost:3000/webhooks-dashboard/' }
const [page = 'emulator', address = DEFAULTS[page]] = process.argv.slice(2)
if (!Object.hasOwn(DEFAULTS, page)) throw new Error(`'${page}' is not a page: use emulator or dashboard`)
const { origin, pathname } = new URL(address)
const proxy = {
  target: origin,
  changeOrigin: true,
  rewrite: path => pathname.replace(/\/$/, '') + path,
  // The server accepts requests only from its own page.
  configure: server => server.on('proxyReq', request => request.setHeader('origin', origin)),
}
const paths = page === 'emulator' ? ['/_emulator', '/v1'] : ['/api']
const server = await createServer({
  ...pageOptions(page),
  // Reachable only from this machine, like the server behind it.
  server: { host: 'localhost', port: 5173, proxy: Object.fromEntries(paths.map(path => [path, proxy])) },
})
await server.listen()
server.printUrls()
