import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { bare, isLoopback, isSpecial } from './addresses.ts'

/** Looks up all addresses of a name, like `lookup` in `node:dns`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Checks targets: the emulator connects only to loopback and to allowed hosts. */
export class Targets {
  readonly #allowed: ReadonlySet<string>
  readonly #httpsOnly: boolean
  readonly #resolve: Resolve

  constructor(allowed: readonly string[], httpsOnly: boolean, resolve: Resolve = systemLookup) {
    this.#allowed = new Set(allowed.map(bare))
    this.#httpsOnly = httpsOnly
    this.#resolve = resolve
  }

  /** Returns the reason for refusing an address, if any. Its name is resolved on connecting. */
  refusal(url: string): string | undefined {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      return "must be an address such as 'http://127.0.0.1:3000/webhooks'"
    }
    if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password'
    const host = bare(parsed.hostname)
    if (this.#httpsOnly && parsed.protocol !== 'https:') return 'must begin with https:// (httpsOnly is on)'
    if (this.#allowed.has(host) || isLoopback(host) || isLocalName(host)) return undefined
    return `leads to ${host}, which is neither this machine nor allowed by allowTargets`
  }

  /** Looks up a host and refuses forbidden addresses. The connection uses the checked address. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const refused = addresses.find(one => !this.#mayConnect(bare(hostname), one.address))
      if (refused !== undefined) return callback(refusalOf(hostname, refused.address), '')
      const [first] = addresses
      if (options.all || first === undefined) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

  #mayConnect(host: string, address: string): boolean {
    if (isLoopback(address)) return true
    return this.#allowed.has(address) || (this.#allowed.has(host) && !isSpecial(address))
  }
}

/** Returns whether a name is `localhost` or a subdomain, which `lookup` still checks. */
function isLocalName(host: string): boolean {
  return isIP(host) === 0 && (host === 'localhost' || host.endsWith('.localhost'))
}

function refusalOf(host: string, address: string): Error {
  return new Error(
    `${host} resolves to ${address}, which is neither this machine nor allowed by allowTargets`,
  )
}
