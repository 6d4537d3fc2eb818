import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import type { Tarball } from './pack.ts'

const LONG_AGO = '2026-01-01T00:00:00.000Z'

export interface Registry {
  readonly url: string
  close(): void
}

/**
 * A registry as it will be once these tarballs are published: serves our packages itself, and all others from npm's
 * configured registry. With it, a test installs exactly the packages that a page names.
 */
export async function startRegistry(tarballs: readonly Tarball[]): Promise<Registry> {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    const file = tarballs.find(one => basename(one.file) === path)
    if (file !== undefined) return void response.end(readFileSync(file.file))
    const own = tarballs.find(one => one.name === path)
    if (own !== undefined) {
      return answer(response, 200, JSON.stringify(packument(own, `http://${request.headers.host}`)))
    }
    forward(`${upstream}${request.url?.slice(1)}`, request, response).catch(error =>
      answer(response, 502, `${error}`),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Returns a package's document, with its only version. */
function packument({ name, path, file }: Tarball, base: string): object {
  const manifest = JSON.parse(readFileSync(`${path}package.json`, 'utf8')) as { version: string }
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  const dist = { tarball: `${base}/${basename(file)}`, integrity }
  const { version } = manifest
  // Yarn and pnpm refuse a version that is a few hours old.
  const time = { created: LONG_AGO, modified: LONG_AGO, [version]: LONG_AGO }
  return { name, time, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}

/** Asks for the form of a document that the client asks for: some check when a version was published. */
async function forward(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { accept = 'application/vnd.npm.install-v1+json' } = request.headers
  const upstream = await fetch(url, { headers: { accept } })
  answer(response, upstream.status, Buffer.from(await upstream.arrayBuffer()))
}

function answer(response: ServerResponse, status: number, body: Buffer | string): void {
  response.writeHead(status).end(body)
}
