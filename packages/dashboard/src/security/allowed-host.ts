const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Returns whether the dashboard accepts a host name. Another site can make only its own name resolve to this machine. */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const name = hostName(host)
  return name !== undefined && (LOOPBACK.test(name) || allowed.some(one => hostName(one) === name))
}

/** Longest host: a name of 253 characters, a dot and a port. The header is read before `authorize`, from anybody. */
const MAX_HOST = 260

/** Returns a host without its port, normalized as in a URL; `undefined` if it is not a valid host. */
export function hostName(host: string): string | undefined {
  if (host.length > MAX_HOST || !/^[^\s@/?#\\*]+$/.test(host)) return undefined
  const isBareIpv6 = /^[\da-f:.]+$/i.test(host) && host.indexOf(':') !== host.lastIndexOf(':')
  const address = `http://${isBareIpv6 ? `[${host}]` : host}`
  return URL.canParse(address) ? new URL(address).hostname : undefined
}
