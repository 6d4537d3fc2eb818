import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { bare, isLoopback, isSpecial } from './addresses.ts'

/** Looks up all addresses of a name, as `lookup` of `node:dns` does. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Checks where events may be sent: to loopback and to named hosts. The emulator connects to nothing else. */
export class Targets {
  readonly #allowed: ReadonlySet<string>
  readonly #httpsOnly: boolean
  readonly #resolve: Resolve

  constructor(allowed: readonly string[], httpsOnly: boolean, resolve: Resolve = systemLookup) {
    this.#allowed = new Set(allowed.map(bare))
    this.#httpsOnly = httpsOnly
    this.#resolve = resolve
  }

  /** Returns why this address is refused, if it is. Its name is resolved when connecting. */
  refusal(url: string): string | undefined {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      return "must be an address such as 'http://127.0.0.1:3000/webhooks'"
    }
    if (parsed.username !== '' || parsed.password !== '') return 'must hold no user name and no password'
    const host = bare(parsed.hostname)
    if (this.#httpsOnly && parsed.protocol !== 'https:') return 'must begin with https:// (httpsOnly is on)'
    if (this.#allowed.has(host) || isLoopback(host) || isLocalName(host)) return undefined
    return `leads to ${host}, which is neither this machine nor a host of allowTargets`
  }

  /** Looks a host up, and refuses forbidden addresses. The connection goes to the address that was checked. */
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

/** `localhost` and its subdomains: names of this machine, as long as they resolve to it. */
function isLocalName(host: string): boolean {
  return isIP(host) === 0 && (host === 'localhost' || host.endsWith('.localhost'))
}

function refusalOf(host: string, address: string): Error {
  return new Error(`${host} resolves to ${address}, which is neither this machine nor a host of allowTargets`)
}
