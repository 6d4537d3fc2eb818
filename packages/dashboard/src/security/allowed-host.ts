const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Returns whether a dashboard answers by this name. A page of another site can make its own name lead here, and no other. */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const name = hostName(host)
  return name !== undefined && (LOOPBACK.test(name) || allowed.some(one => hostName(one) === name))
}

/** A host without its port, as URLs have it. `undefined` where it is none. */
export function hostName(host: string): string | undefined {
  const address = `http://${/^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(host) ? `[${host}]` : host}`
  return /^[^\s@/?#\\*]+$/.test(host) && URL.canParse(address) ? new URL(address).hostname : undefined
}
