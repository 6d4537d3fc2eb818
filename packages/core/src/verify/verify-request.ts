import { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import { type HeaderSource, headerOf } from '../http/request.ts'
import type { SecretsOf } from './secrets.ts'
import { verifySignature } from './signature.ts'
import { parseSignatureHeader } from './signature-header.ts'
import { checkTolerance, parseTimestamp } from './timestamp.ts'

export interface VerifierParts<Context> {
  readonly contract: Contract
  readonly secretsOf: SecretsOf<Context>
  readonly toleranceMs: number
  readonly clock: () => number
}

/** Steps 3 to 5: `undefined` when the bytes are genuine and fresh, otherwise why not. Writes nothing. */
export type VerifyRequest<Context> = (
  headers: HeaderSource,
  body: Uint8Array,
  context: Context,
) => Promise<Refusal | undefined>

/** Checks the form of the header before it asks for a secret, and the time only after the signature. */
export function createVerifier<Context>(parts: VerifierParts<Context>): VerifyRequest<Context> {
  const { contract, secretsOf, toleranceMs, clock } = parts
  return async (headers, body, context) => {
    const text = headerOf(headers, contract.header)
    if (text === undefined)
      return new Refusal('signature_missing', { detail: `no header ${contract.header}` })
    const header = parseSignatureHeader(text, contract.scheme)
    if (header instanceof Refusal) return header
    const timestampMs = parseTimestamp(header.timestamp, contract.timestampUnit)
    if (timestampMs === undefined) return unreadable(contract)
    const macs = await secretsOf(context)
    if (macs instanceof Refusal) return macs
    if (!(await verifySignature(header, body, macs))) return body.length === 0 ? EMPTY : MISMATCH
    // Someone who cannot sign learns nothing about this clock.
    return checkTolerance(timestampMs, clock(), toleranceMs)
  }
}

const MISMATCH = new Refusal('signature_mismatch', {
  detail: 'no signature matches: another secret, or bytes that are not those that were signed',
})

const EMPTY = new Refusal('signature_mismatch', {
  detail: 'no signature matches, and the body is empty: was it read before?',
})

function unreadable({ timestampUnit }: Contract): Refusal {
  const form = timestampUnit === 'auto' ? 'any accepted form' : timestampUnit
  return new Refusal('timestamp_malformed', { detail: `t is not a timestamp in ${form}` })
}
