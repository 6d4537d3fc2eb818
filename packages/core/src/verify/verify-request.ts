import { Refusal } from '../errors/refusal.ts'
import type { Contract } from '../events/contract.ts'
import { type HeaderSource, headerOf } from '../http/request.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Mac } from '../platform/platform.ts'
import type { SecretUse } from './secret-use.ts'
import type { PreparedSecrets } from './secrets.ts'
import { parseSignatureHeader, type SignatureHeader } from './signature-header.ts'
import { checkTolerance, parseTimestamp } from './timestamp.ts'
import type { TimestampWatch } from './timestamp-watch.ts'

export interface VerifierParts<Context> {
  readonly contract: Contract
  readonly secrets: PreparedSecrets<Context>
  readonly secretUse?: Pick<SecretUse, 'matched'>
  readonly toleranceMs: number
  /** Tells from earlier deliveries why one is refused. Absent if this verifier sees a single one. */
  readonly watch?: TimestampWatch
  readonly clock: () => number
}

/**
 * Runs steps 3 to 5. Gives `undefined` if the bytes are genuine and fresh, otherwise the refusal. Writes nothing.
 * Synchronous unless a secret or an HMAC has to be awaited.
 */
export type VerifyRequest<Context> = (
  headers: HeaderSource,
  body: Uint8Array,
  context: Context,
) => MaybePromise<Refusal | undefined>

/**
 * Creates a verifier that checks the header's form before it requests a secret, and the time only after the signature.
 */
export function createVerifier<Context>(parts: VerifierParts<Context>): VerifyRequest<Context> {
  const verifier = new Verifier(parts)
  return (headers, body, context) => verifier.verify(headers, body, context)
}

class Verifier<Context> {
  readonly #parts: VerifierParts<Context>
  #hasVerified: boolean

  constructor(parts: VerifierParts<Context>) {
    this.#parts = parts
    // Without earlier deliveries, nothing is concluded from their absence.
    this.#hasVerified = parts.watch === undefined
  }

  /** Step 3: the header. */
  verify(headers: HeaderSource, body: Uint8Array, context: Context): MaybePromise<Refusal | undefined> {
    const { contract, secrets } = this.#parts
    const text = headerOf(headers, contract.header)
    if (text === undefined)
      return new Refusal('signature_missing', { detail: `no header ${contract.header}` })
    const header = parseSignatureHeader(text, contract.scheme)
    if (header instanceof Refusal) return header
    const timestampMs = parseTimestamp(header.timestamp, contract.timestampUnit)
    if (timestampMs === undefined) return unreadable(contract)
    if (typeof secrets !== 'function') return this.#checkSignature(header, timestampMs, body, secrets)
    return secrets(context).then(macs =>
      macs instanceof Refusal ? macs : this.#checkSignature(header, timestampMs, body, macs),
    )
  }

  /** Step 4: the signature. */
  #checkSignature(
    header: SignatureHeader,
    timestampMs: number,
    body: Uint8Array,
    macs: readonly Mac[],
  ): MaybePromise<Refusal | undefined> {
    const verifying = verifySignature(header, body, macs, macs.length > 1 ? this.#parts.secretUse : undefined)
    if (isPromise(verifying)) return verifying.then(matches => this.#checkTime(matches, timestampMs, body))
    return this.#checkTime(verifying, timestampMs, body)
  }

  /** Step 5: the time. Checked last: someone who cannot sign learns nothing about this clock. */
  #checkTime(matches: boolean, timestampMs: number, body: Uint8Array): Refusal | undefined {
    if (!matches) return mismatchOf(body, this.#hasVerified)
    this.#hasVerified = true
    const { clock, toleranceMs, watch } = this.#parts
    const nowMs = clock()
    const outside = checkTolerance(timestampMs, nowMs, toleranceMs)
    if (outside === undefined) watch?.passed(nowMs)
    else if (watch !== undefined) return watch.judge(outside, { timestampMs, nowMs, body })
    return outside
  }
}

const MISMATCH_DETAIL = 'no signature matches: wrong secret, or not the bytes that were signed'
const MISMATCH = new Refusal('signature_mismatch', { detail: MISMATCH_DETAIL })
const NEVER_MATCHED = new Refusal('signature_mismatch', {
  detail: `${MISMATCH_DETAIL}; no delivery has verified since this process started: is SIGNING_SECRET this endpoint's secret?`,
  level: 'error',
})

const EMPTY = new Refusal('signature_mismatch', {
  detail: 'no signature matches, and the body is empty: was it read before?',
})

const CONVERTED = new Refusal('signature_mismatch', {
  detail:
    'no signature matches, and the body is a list of bytes written as text: the client converted the bytes instead of sending them. Give it the body as a string, such as .send(body.toString()) in supertest',
})
/** Beginnings of a body that supertest and others make of a `Uint8Array` or a `Buffer`, and that `String(bytes)` gives. */
const CONVERSIONS = /^(?:\{"0":\d|\{"type":"Buffer","data":\[|123,\d)/
const MAX_CONVERSION_BYTES = 26

function mismatchOf(body: Uint8Array, hasVerified: boolean): Refusal {
  if (body.length === 0) return EMPTY
  const begins = String.fromCharCode(...body.subarray(0, MAX_CONVERSION_BYTES))
  if (CONVERSIONS.test(begins)) return CONVERTED
  return hasVerified ? MISMATCH : NEVER_MATCHED
}

function unreadable({ timestampUnit }: Contract): Refusal {
  const form = timestampUnit === 'auto' ? 'any accepted form' : timestampUnit
  return new Refusal('timestamp_malformed', { detail: `t is not a timestamp in ${form}` })
}

/**
 * Returns whether one of the header's signatures is the HMAC of `<raw t>.<raw bytes>` under one of the secrets.
 * Computes one HMAC per secret, however many signatures the header has, and compares every signature in full.
 * perf: note 45.
 */
export function verifySignature(
  header: SignatureHeader,
  body: Uint8Array,
  macs: readonly Mac[],
  secretUse?: Pick<SecretUse, 'matched'>,
  at = 0,
): MaybePromise<boolean> {
  const mac = macs[at]
  if (mac === undefined) return false
  const decide = (digest: string): MaybePromise<boolean> => {
    let matches = false
    for (const signature of header.signatures) matches = equalsDigest(digest, signature) || matches
    if (!matches) return verifySignature(header, body, macs, secretUse, at + 1)
    secretUse?.matched(at + 1, macs.length)
    return true
  }
  const signing = mac(header.timestamp, body)
  return isPromise(signing) ? signing.then(decide) : decide(signing)
}

/**
 * Returns whether `signature` spells `digest`, 64 hexadecimal digits in lower case. Takes the same time wherever they
 * differ: nothing branches on a digit of either side.
 */
export function equalsDigest(digest: string, signature: string): boolean {
  const lowerCase = signature.toLowerCase()
  let difference = (digest.length ^ DIGITS) | (lowerCase.length ^ DIGITS)
  for (let i = 0; i < DIGITS; i++) difference |= digest.charCodeAt(i) ^ lowerCase.charCodeAt(i)
  return difference === 0
}

const DIGITS = 64
