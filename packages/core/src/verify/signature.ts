import { isPromise } from '../lib/maybe-promise.ts'
import type { Mac } from '../platform/platform.ts'
import type { SignatureHeader } from './signature-header.ts'

/**
 * Whether one of the header's signatures is the HMAC of `<raw t>.<raw bytes>` under one of the secrets. One HMAC a
 * secret, however many signatures the header has, and every signature is compared in full.
 */
export async function verifySignature(
  { timestamp, signatures }: SignatureHeader,
  body: Uint8Array,
  macs: readonly Mac[],
): Promise<boolean> {
  for (const mac of macs) {
    const signing = mac(timestamp, body)
    const digest = isPromise(signing) ? await signing : signing
    let matches = false
    for (const signature of signatures) matches = equalsDigest(digest, signature) || matches
    if (matches) return true
  }
  return false
}

/**
 * Whether `signature` spells `digest`, 64 hexadecimal digits in lower case. Takes the same time wherever the first
 * difference is: nothing branches on a digit of either side.
 */
export function equalsDigest(digest: string, signature: string): boolean {
  const lowerCase = signature.toLowerCase()
  let difference = (digest.length ^ DIGITS) | (lowerCase.length ^ DIGITS)
  for (let i = 0; i < DIGITS; i++) difference |= digest.charCodeAt(i) ^ lowerCase.charCodeAt(i)
  return difference === 0
}

const DIGITS = 64
