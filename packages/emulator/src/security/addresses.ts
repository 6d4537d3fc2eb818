import { BlockList, isIP, isIPv6 } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Addresses that no receiver has: of this network, link-local (a cloud's metadata is there), multicast. */
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

/** The host of a URL or of a header without brackets and port; lower case. `undefined` if it is no host. */
export function hostOf(authority: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(authority)) return undefined
  const url = URL.canParse(`http://${authority}/`) ? new URL(`http://${authority}/`) : undefined
  return url === undefined || url.hostname === '' ? undefined : bare(url.hostname)
}

/** Removes the brackets of an IPv6 address, and the dot at the end of a full name. */
export function bare(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}
