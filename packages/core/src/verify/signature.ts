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

/** Values of the ASCII hexadecimal digits; no other code is looked up, because the header's form was checked. */
const HEX_VALUE = new Uint8Array(128)
for (const digit of '0123456789abcdefABCDEF') HEX_VALUE[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/**
 * Whether 64 hexadecimal digits spell the same 32 bytes as `digest` (one character a byte). Takes the same
 * time wherever the first difference stands: there is no branch on a byte of the digest, and table look-ups
 * are indexed by what the sender wrote, never by the secret side.
 */
export function equalsDigest(digest: string, hex: string): boolean {
  let difference = (digest.length ^ 32) | (hex.length ^ 64)
  for (let i = 0; i < 32; i++) {
    const high = HEX_VALUE[hex.charCodeAt(2 * i)] as number
    const low = HEX_VALUE[hex.charCodeAt(2 * i + 1)] as number
    difference |= digest.charCodeAt(i) ^ ((high << 4) | low)
  }
  return difference === 0
}
