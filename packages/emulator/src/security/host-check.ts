import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { bare, hostOf, isLoopback } from './addresses.ts'

/** Checks the host names of requests. Another site's page that resolves its own name to this address has none of them. */
export class HostCheck {
  readonly #names: ReadonlySet<string>
  readonly #anyAddress: boolean

  /** `bound` is the address it listens on; every address is a name of it when it listens on all. */
  constructor(bound: string, allowed: readonly string[]) {
    this.#names = new Set(['localhost', ...[bound, ...allowed].map(bare)])
    this.#anyAddress = ['0.0.0.0', '::'].includes(bound)
  }

  /** Judges the request as it came, before anything reads its path. */
  allows({ url = '', headers, rawHeaders }: IncomingMessage): boolean {
    if (countOf('host', rawHeaders) !== 1) return false
    if (!this.#isOurs(headers.host)) return false
    if (url.startsWith('/')) return true
    // An address in absolute form names its own host.
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
