import { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import { type HeaderSource, headerOf } from '../http/request.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Mac } from '../platform/platform.ts'
import type { PreparedSecrets } from './secrets.ts'
import { verifySignature } from './signature.ts'
import { parseSignatureHeader, requireDigits, type SignatureHeader } from './signature-header.ts'
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

/** What a request says of itself, until its signature proves it. */
interface Unproven {
  readonly header: SignatureHeader
  readonly timestampMs: number
  readonly body: Uint8Array
}

/** The form of the header is judged before any secret is asked for. */
export function createVerifier<Context>(parts: VerifierParts<Context>): VerifyRequest<Context> {
  const { contract, macs } = parts
  return (headers, body, context) => {
    const text = headerOf(headers, contract.header)
    if (text === undefined)
      return new Refusal('signature_missing', { detail: `no header ${contract.header}` })
    const header = parseSignatureHeader(text, contract.scheme)
    if (header instanceof Refusal) return header
    const timestampMs = parseTimestamp(header.timestamp, contract.timestampUnit)
    if (timestampMs === undefined) return unreadable(contract)
    const unproven = { header, timestampMs, body }
    if (typeof macs !== 'function') return prove(unproven, macs, parts)
    const fault = requireDigits(header, contract.scheme)
    if (fault !== undefined) return fault
    return macs(context).then(known => (known instanceof Refusal ? known : prove(unproven, known, parts)))
  }
}

type Judge = Pick<VerifierParts<never>, 'contract' | 'toleranceMs' | 'clock'>

function prove(unproven: Unproven, macs: readonly Mac[], parts: Judge): MaybePromise<Refusal | undefined> {
  const matching = verifySignature(unproven.header, unproven.body, macs)
  return isPromise(matching)
    ? matching.then(matches => judge(unproven, matches, parts))
    : judge(unproven, matching, parts)
}

/** The time is judged only after the signature holds: someone who cannot sign learns nothing of this clock. */
function judge(unproven: Unproven, matches: boolean, parts: Judge): Refusal | undefined {
  if (!matches) return requireDigits(unproven.header, parts.contract.scheme) ?? MISMATCH
  return checkTolerance(unproven.timestampMs, parts.clock(), parts.toleranceMs)
}

const MISMATCH = new Refusal('signature_mismatch', {
  detail: 'no signature matches: another secret, or bytes that are not those that were signed',
})

function unreadable({ timestampUnit }: Contract): Refusal {
  const form = timestampUnit === 'auto' ? 'any accepted form' : timestampUnit
  return new Refusal('timestamp_malformed', { detail: `t is not a timestamp in ${form}` })
}
