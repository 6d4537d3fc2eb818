import { equalsDigest } from './constant-time.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import type { Mac } from './platform.ts'
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
  const mac = macs[from]
  if (mac === undefined) return false
  return andThen(
    mac(header.timestamp, body),
    digest => matchesAny(header.signatures, digest) || verifySignature(header, body, macs, from + 1),
  )
}

function matchesAny(signatures: readonly string[], digest: string): boolean {
  let matches = false
  for (const signature of signatures) matches = equalsDigest(digest, signature) || matches
  return matches
}
