import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Mac } from '../platform/platform.ts'
import type { SignatureHeader } from './signature-header.ts'

/**
 * Whether one of the header's signatures is the HMAC of `<raw t>.<raw bytes>` under one of the secrets, from number
 * `from` on. One HMAC a secret, however many signatures the header has, and every signature is compared in full.
 */
export function verifySignature(
  header: SignatureHeader,
  body: Uint8Array,
  macs: readonly Mac[],
  from = 0,
): MaybePromise<boolean> {
  for (let index = from; index < macs.length; index++) {
    const digest = (macs[index] as Mac)(header.timestamp, body)
    if (typeof digest !== 'string') {
      return digest.then(
        known => matchesAny(header.signatures, known) || verifySignature(header, body, macs, index + 1),
      )
    }
    if (matchesAny(header.signatures, digest)) return true
  }
  return false
}

function matchesAny(signatures: readonly string[], digest: string): boolean {
  let matches = false
  for (const signature of signatures) matches = equalsDigest(digest, signature) || matches
  return matches
}

/**
 * Whether 64 hexadecimal digits spell the same 32 bytes as `digest` (one character a byte). Takes the same
 * time wherever the first difference stands: there is no branch on a byte of either side, and no table.
 */
export function equalsDigest(digest: string, hex: string): boolean {
  let difference = (digest.length ^ 32) | (hex.length ^ 64)
  for (let i = 0; i < 32; i++) {
    const byte = (hexValue(hex.charCodeAt(2 * i)) << 4) | hexValue(hex.charCodeAt(2 * i + 1))
    difference |= digest.charCodeAt(i) ^ byte
  }
  return difference === 0
}

/** Of the code of a hexadecimal digit in ASCII: a letter has bit 6 set, and stands 9 below its value in the low bits. */
function hexValue(code: number): number {
  return (code & 15) + (code >> 6) * 9
}
