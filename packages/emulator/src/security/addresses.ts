import { BlockList, isIP, isIPv6 } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Addresses that no receiver has: unspecified, link-local (such as cloud metadata) and multicast. */
const SPECIAL = new BlockList()
SPECIAL.addSubnet('0.0.0.0', 8, 'ipv4')
SPECIAL.addSubnet('169.254.0.0', 16, 'ipv4')
SPECIAL.addSubnet('224.0.0.0', 3, 'ipv4')
SPECIAL.addAddress('::', 'ipv6')
SPECIAL.addSubnet('fe80::', 10, 'ipv6')
SPECIAL.addSubnet('ff00::', 8, 'ipv6')

export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

export function isSpecial(address: string): boolean {
  return isIP(address) !== 0 && SPECIAL.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** Longest authority: a name of 253 characters, a dot and a port. */
const MAX_AUTHORITY = 260

/** Returns the host of an authority in lower case, without brackets and port; `undefined` if invalid. */
export function hostOf(authority: string): string | undefined {
  if (authority.length > MAX_AUTHORITY || !/^[\w.:[\]-]+$/.test(authority)) return undefined
  const url = URL.canParse(`http://${authority}/`) ? new URL(`http://${authority}/`) : undefined
  return url === undefined || url.hostname === '' ? undefined : bare(url.hostname)
}

/** Removes an IPv6 address's brackets and a name's trailing dot, and converts to lower case. */
export function bare(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}
