import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the page. */
interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Folder of the built page: `index.html` and its assets. */
const OWN_PAGE = fileURLToPath(new URL('../../page', import.meta.url))

/** The page's files, read once, so that no requested path reaches the file system. */
export class Assets {
  readonly #files = new Map<string, Asset>()

  constructor(folder: string = OWN_PAGE) {
    if (!existsSync(folder)) return
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const type = TYPES[extname(entry.name)]
      if (!entry.isFile() || type === undefined) continue
      const file = join(entry.parentPath, entry.name)
      const bytes = Uint8Array.from(readFileSync(file))
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      this.#files.set(`/${relative(folder, file).split(sep).join('/')}`, { bytes, type, etag })
    }
  }

  /** Returns the reply for a path: a file, or the page itself for a path without an extension. */
  reply(path: string, ifNoneMatch: string | undefined): Response | undefined {
    const file = this.#files.get(path) ?? (extname(path) === '' ? this.#files.get('/index.html') : undefined)
    if (file === undefined) return path === '/' ? withoutPage() : undefined
    const { bytes, type, etag } = file
    const headers = { 'content-type': type, etag, 'cache-control': 'no-cache' }
    return ifNoneMatch === etag
      ? new Response(null, { status: 304, headers })
      : new Response(bytes, { headers })
  }
}

function withoutPage(): Response {
  return new Response('The Ackhook emulator. Its API is described at /_emulator/v1/openapi.json\n', {
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
}
