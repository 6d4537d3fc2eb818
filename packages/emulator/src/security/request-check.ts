import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { bare, hostOf, isLoopback } from './addresses.ts'

/** Parts of a request that reveal its origin. */
interface RequestFacts {
  readonly method: string
  /** Routed path, as the router has decoded it. */
  readonly path: string
  header(name: string): string | undefined
}

interface Judgment {
  readonly status: 401 | 403 | 415
  readonly message: string
}

const SAFE = ['GET', 'HEAD', 'OPTIONS']
/** The only path of the platform. */
export const MESSAGES_PATH = '/v1/messages'

/**
 * Returns the refusal of a request that may come from another site's page. Requests marked as such by a browser are
 * refused. Unmarked unsafe ones need this origin, or headers that another site can send only after a preflight.
 */
export function judgeOrigin({ method, path, header }: RequestFacts): Judgment | undefined {
  const site = header('sec-fetch-site')
  if (site === 'cross-site' || site === 'same-site') {
    // A link on another site may open the page, which runs no foreign script and cannot be framed.
    const opensPage = method === 'GET' && header('sec-fetch-mode') === 'navigate' && !isApi(path)
    return opensPage ? undefined : refuse('requests from other sites are refused')
  }
  if (SAFE.includes(method) || site !== undefined) return undefined
  const origin = header('origin')
  if (origin !== undefined) {
    return isOwnOrigin(origin, header('host')) ? undefined : refuse('the origin is another site')
  }
  // The platform's clients lack our header. Wrong paths under /v1 get 404 anyway.
  if (header('x-ackhook') !== '1' && !isOfPlatform(path)) return refuse('send the header x-ackhook: 1')
  return isJson(header('content-type'))
    ? undefined
    : { status: 415, message: 'send the body as application/json' }
}

/** Compares a request's token in constant time. */
export function hasToken(authorization: string | undefined, token: string): boolean {
  const [, given = ''] = /^Bearer (.+)$/i.exec(authorization ?? '') ?? []
  return timingSafeEqual(hashOf(given), hashOf(token))
}

/** Returns whether a path belongs to an API, and not to the page. */
export function isApi(path: string): boolean {
  return path.startsWith('/_emulator') || isOfPlatform(path)
}

/** Returns whether a path belongs to the platform's own API. */
export function isOfPlatform(path: string): boolean {
  return path.startsWith('/v1')
}

function refuse(message: string): Judgment {
  return { status: 403, message }
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
}

export function isJson(type: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(type ?? '')
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Checks the host name of requests, against DNS rebinding. */
export class HostCheck {
  readonly #names: ReadonlySet<string>
  readonly #anyAddress: boolean

  /** `bound` is the address the server listens on. If it is unspecified, all IP addresses are allowed. */
  constructor(bound: string, allowed: readonly string[]) {
    this.#names = new Set(['localhost', ...[bound, ...allowed].map(bare)])
    this.#anyAddress = ['0.0.0.0', '::'].includes(bound)
  }

  /** Checks the raw request, before its path is parsed. */
  allows({ url = '', headers, rawHeaders }: IncomingMessage): boolean {
    if (countOf('host', rawHeaders) !== 1) return false
    if (!this.#isOurs(headers.host)) return false
    if (url.startsWith('/')) return true
    // A URL in absolute form contains its own host.
    return /^https?:\/\//i.test(url) && this.#isOurs(/^https?:\/\/([^/?#]*)/i.exec(url)?.[1])
  }

  #isOurs(authority: string | undefined): boolean {
    const host = hostOf(authority ?? '')
    if (host === undefined) return false
    if (isIP(host) !== 0) return this.#anyAddress || isLoopback(host) || this.#names.has(host)
    return this.#names.has(host)
  }
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === name).length
}
