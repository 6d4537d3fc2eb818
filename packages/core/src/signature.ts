import { equalsDigest } from './constant-time.ts'
import { isPromise, type MaybePromise } from './maybe-promise.ts'
import type { Mac } from './platform.ts'
import type { SignatureHeader } from './signature-header.ts'

/**
 * Whether one of the header's signatures is the HMAC of `<raw t>.<raw bytes>` under one of the secrets.
 * One HMAC a secret, however many signatures the header has, and every signature is compared in full.
 */
export function verifySignature(
  header: SignatureHeader,
  body: Uint8Array,
  macs: readonly Mac[],
): MaybePromise<boolean> {
  for (let i = 0; i < macs.length; i++) {
    const digest = (macs[i] as Mac)(header.timestamp, body)
    if (isPromise(digest)) return verifyFrom(digest, i, header, body, macs)
    if (matchesAny(header.signatures, digest)) return true
  }
  return false
}

async function verifyFrom(
  first: Promise<string>,
  index: number,
  header: SignatureHeader,
  body: Uint8Array,
  macs: readonly Mac[],
): Promise<boolean> {
  if (matchesAny(header.signatures, await first)) return true
  for (const mac of macs.slice(index + 1)) {
    if (matchesAny(header.signatures, await mac(header.timestamp, body))) return true
  }
  return false
}

function matchesAny(signatures: readonly string[], digest: string): boolean {
  let matches = false
  for (const signature of signatures) matches = equalsDigest(digest, signature) || matches
  return matches
}
