import { assets } from '#page'

const ONE_YEAR = 'public, max-age=31536000, immutable'

/** The page or one of its files, `undefined` for any other path. Files have their hash in the name. */
export function servePage(request: Request, pathname: string): Response | undefined {
  const file = pathname.match(/\/(assets\/[^/]+)$/)?.[1]
  if (file !== undefined) return reply(request, file, ONE_YEAR)
  if (pathname.endsWith('/')) return reply(request, 'index.html', 'no-cache')
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  if (last.includes('.')) return undefined
  // Relative, so that it holds behind a prefix: the page finds its files beside itself only below a slash.
  return new Response(null, { status: 308, headers: { location: `./${last}/` } })
}

function reply(request: Request, name: string, cacheControl: string): Response | undefined {
  const asset = Object.hasOwn(assets, name) ? assets[name] : undefined
  if (asset === undefined) return undefined
  const headers = { 'content-type': asset.type, etag: asset.etag, 'cache-control': cacheControl }
  if (request.headers.get('if-none-match') === asset.etag) return new Response(null, { status: 304, headers })
  return new Response(request.method === 'HEAD' ? null : asset.body, { headers })
}
