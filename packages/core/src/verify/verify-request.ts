import { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import { type HeaderSource, headerOf } from '../http/request.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Mac } from '../platform/platform.ts'
import type { PreparedSecrets } from './secrets.ts'
import { verifySignature } from './signature.ts'
import { parseSignatureHeader } from './signature-header.ts'
import { checkTolerance, parseTimestamp } from './timestamp.ts'

export interface VerifierParts<Context> {
  readonly contract: Contract
  readonly macs: PreparedSecrets<Context>
  readonly toleranceMs: number
  readonly clock: () => number
}

/** Steps 3 to 5: `undefined` when the bytes are genuine and fresh, otherwise why not. Writes nothing. */
export type VerifyRequest<Context> = (
  headers: HeaderSource,
  body: Uint8Array,
  context: Context,
) => MaybePromise<Refusal | undefined>

/** The form of the header is judged before any secret is asked for. */
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
      const form = contract.timestampUnit === 'auto' ? 'any accepted form' : contract.timestampUnit
      return new Refusal('timestamp_malformed', { detail: `t is not a timestamp in ${form}` })
    }
    // The time is judged only after the signature holds: someone who cannot sign learns nothing of this clock.
    const judge = (matches: boolean): Refusal | undefined =>
      matches ? checkTolerance(timestampMs, clock(), toleranceMs) : MISMATCH
    const verify = (known: readonly Mac[]): MaybePromise<Refusal | undefined> => {
      const matching = verifySignature(header, body, known)
      return isPromise(matching) ? matching.then(judge) : judge(matching)
    }
    if (typeof macs !== 'function') return verify(macs)
    return macs(context).then(known => (known instanceof Refusal ? known : verify(known)))
  }
}

const MISMATCH = new Refusal('signature_mismatch', {
  detail: 'no signature matches: another secret, or bytes that are not those that were signed',
})
