import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'

const DIST = `${ROOT}site/.vitepress/dist`
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

/** Returns the HTML of every page of the built site, by address. */
export function builtPages(): ReadonlyMap<string, string> {
  const files = filesUnder(DIST).filter(file => file.endsWith('.html') && file !== '404.html')
  return new Map(
    files.map(file => [
      `/${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`,
      readFileSync(`${DIST}/${file}`, 'utf8'),
    ]),
  )
}

/** Returns the file that a static host serves for a path, or `undefined`. */
export function fileFor(path: string): string | undefined {
  const candidates = [path, `${path}.html`, `${path.replace(/\/$/, '')}/index.html`]
  return candidates
    .map(one => DIST + decodeURI(one))
    .find(file => existsSync(file) && statSync(file).isFile())
}

/** Serves the built site as a static host does: no framework and no rewriting. */
export async function serveSite(): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer((request, response) => {
    const file = fileFor(new URL(request.url ?? '/', 'http://localhost').pathname)
    if (file === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain; charset=utf-8' })
    response.end(readFileSync(file))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
