const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Returns whether the dashboard accepts a host name. Another site can make only its own name resolve to this machine. */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const name = hostName(host)
  return name !== undefined && (LOOPBACK.test(name) || allowed.some(one => hostName(one) === name))
}

/** Returns a host without its port, normalized as in a URL; `undefined` if it is not a valid host. */
export function hostName(host: string): string | undefined {
  const address = `http://${/^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(host) ? `[${host}]` : host}`
  return /^[^\s@/?#\\*]+$/.test(host) && URL.canParse(address) ? new URL(address).hostname : undefined
}
