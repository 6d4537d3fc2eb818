import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { bare, hostOf, isLoopback } from './addresses.ts'

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
