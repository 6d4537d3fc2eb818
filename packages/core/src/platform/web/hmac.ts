import { encodeText } from '../../lib/utf8.ts'
import type { Mac } from '../platform.ts'

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/**
 * HMAC-SHA256 with Web Crypto. Signs, and leaves the comparison to us: constant time inside `subtle.verify` is each
 * runtime's own promise, and one has broken it.
 *
 * The first delivery imports the key: Workers forbid that while a module loads, and do not let one request wait for
 * another's promise.
 */
export function hmac(secret: string): Mac {
  let key: Key | undefined
  return async (timestamp, body) => {
    key ??= await importKey(secret)
    const prefix = encodeText(`${timestamp}.`)
    const message = new Uint8Array(prefix.length + body.length)
    message.set(prefix)
    message.set(body, prefix.length)
    const digest = await crypto.subtle.sign('HMAC', key, message)
    return toHex(new Uint8Array(digest))
  }
}

function importKey(secret: string): Promise<Key> {
  return crypto.subtle.importKey('raw', encodeText(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
