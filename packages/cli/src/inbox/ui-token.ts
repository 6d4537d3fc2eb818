import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'

/** Returns a random token for one run. */
export function createToken(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * Serves only requests with the token: as `?token=` of the printed address, which is exchanged for a cookie of the browser's
 * session, in that cookie, or as `Authorization: Bearer` of a program. The address never reaches the pages' history.
 */
export function withToken(token: string, handler: RequestListener): RequestListener {
  return (request, response) => {
    const address = addressOf(request)
    const given = address?.searchParams.get('token')
    if (address !== undefined && isEqual(given ?? '', token)) {
      address.searchParams.delete('token')
      response.writeHead(303, {
        location: `${address.pathname}${address.search}`,
        'set-cookie': `${cookieName(request)}=${token}; HttpOnly; SameSite=Lax; Path=/`,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      })
      response.end()
    } else if (isEqual(bearer(request) ?? cookie(request) ?? '', token)) handler(request, response)
    else
      response
        .writeHead(401, { 'content-type': 'text/plain', 'cache-control': 'no-store' })
        .end("Open the address that 'ackhook inbox ui' printed: it contains a token.\n")
  }
}

/** A request target can be any text. */
function addressOf({ url = '' }: IncomingMessage): URL | undefined {
  const base = 'http://localhost'
  return URL.canParse(url, base) ? new URL(url, base) : undefined
}

/** Cookies are shared by all ports of a host, so each has its port in its name. */
function cookieName({ socket: { localPort } }: IncomingMessage): string {
  return `ackhook-ui-${localPort}`
}

function cookie(request: IncomingMessage): string | undefined {
  const start = `${cookieName(request)}=`
  const own = request.headers.cookie?.split(/; */).find(pair => pair.startsWith(start))
  return own?.slice(start.length)
}

function bearer({ headers: { authorization } }: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
}

/** Compares digests in constant time: the texts may differ in length. */
function isEqual(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
