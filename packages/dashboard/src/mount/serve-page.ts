import { assets } from '#page'
import { SLASH_SCRIPT } from '../security/page-headers.ts'

const ONE_YEAR = 'public, max-age=31536000, immutable'
/** Files that browsers and crawlers request by themselves. Any other dot is part of a path: `/ops/webhooks.v2`. */
const FILE = /\.(ico|png|svg|txt|xml|js|css|map|json|webmanifest)$/i

/** Returns the page or one of its files, `undefined` for any other path. File names contain their hash. */
export function servePage(request: Request, pathname: string): Response | undefined {
  const file = pathname.match(/\/(assets\/[^/]+)$/)?.[1]
  if (file !== undefined) return reply(request, file, ONE_YEAR)
  if (pathname.endsWith('/')) return reply(request, 'index.html', 'no-cache')
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  if (FILE.test(last)) return undefined
  // The page's relative links need the trailing slash. The browser adds it to its own address: a proxy may have renamed
  // this path.
  if (request.headers.get('accept')?.includes('text/html')) return addingSlash(request)
  return new Response(null, { status: 308, headers: { location: `./${last}/` } })
}

function addingSlash({ method }: Request): Response {
  const page = `<!doctype html><meta charset="utf-8"><title>Webhooks</title><script>${SLASH_SCRIPT}</script>`
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' }
  return new Response(method === 'HEAD' ? null : page, { headers })
}

function reply(request: Request, name: string, cacheControl: string): Response | undefined {
  const asset = Object.hasOwn(assets, name) ? assets[name] : undefined
  if (asset === undefined) return undefined
  const headers = { 'content-type': asset.type, etag: asset.etag, 'cache-control': cacheControl }
  if (request.headers.get('if-none-match') === asset.etag) return new Response(null, { status: 304, headers })
  return new Response(request.method === 'HEAD' ? null : bodyOf(name, asset.body), { headers })
}

/** Adds the script to the page too: a proxy that strips the whole path turns an address without a slash into `/`. */
function bodyOf(name: string, body: string): string {
  return name === 'index.html' ? body.replace('<head>', () => `<head><script>${SLASH_SCRIPT}</script>`) : body
}
