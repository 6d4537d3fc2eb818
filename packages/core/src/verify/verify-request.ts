import { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import { type HeaderSource, headerOf } from '../http/request.ts'
import { andThen, type MaybePromise } from '../lib/maybe-promise.ts'
import type { ResolveMacs } from './secrets.ts'
import { verifySignature } from './signature.ts'
import { parseSignatureHeader } from './signature-header.ts'
import { checkTolerance, parseTimestamp } from './timestamp.ts'

export interface VerifierParts<Context> {
  readonly contract: Contract
  readonly macs: ResolveMacs<Context>
  readonly toleranceMs: number
  readonly clock: () => number
}

/** Steps 3 to 5: `undefined` when the bytes are genuine and fresh, otherwise why not. Writes nothing. */
export type VerifyRequest<Context> = (
  headers: HeaderSource,
  body: Uint8Array,
  context: Context,
) => MaybePromise<Refusal | undefined>

/**
 * The form of the header is judged before any secret is asked for, and the time only after the signature
 * holds: a clock is nobody's business who cannot sign.
 */
export function createVerifier<Context>(parts: VerifierParts<Context>): VerifyRequest<Context> {
  const { contract, macs, toleranceMs, clock } = parts

  return (headers, body, context) => {
    const value = headerOf(headers, contract.header)
    if (value === undefined)
      return new Refusal('signature_missing', { detail: `no header ${contract.header}` })
    const header = parseSignatureHeader(value, contract.scheme)
    if (header instanceof Refusal) return header
    const timestampMs = parseTimestamp(header.timestamp, contract.timestampUnit)
    if (timestampMs === undefined) {
      return new Refusal('timestamp_malformed', { detail: `t is no timestamp in ${contract.timestampUnit}` })
    }
    return andThen(macs(context), secrets => {
      if (secrets instanceof Refusal) return secrets
      return andThen(verifySignature(header, body, secrets), matches =>
        matches ? checkTolerance(timestampMs, clock(), toleranceMs) : MISMATCH,
      )
    })
  }
}

const MISMATCH = new Refusal('signature_mismatch', {
  detail: 'no signature matches: another secret, or bytes that are not those that were signed',
})
