import { CODES, type RefusalCode } from '../errors/codes.ts'
import { ConfigurationError } from '../errors/errors.ts'
import { kindOf } from '../errors/kind-of.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { Refusal } from '../errors/refusal.ts'
import { DEFAULT_BOUNDS, weighBody } from '../events/body-bounds.ts'
import { type ContractOptions, resolveContract } from '../events/contract.ts'
import { createDecoder } from '../events/decode-event.ts'
import type { EventOf } from '../events/event-types.ts'
import { type HeaderSource, headerOf, isBytes } from '../http/request.ts'
import { refuseNull, refuseUnknownNames } from '../lib/check-option.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'
import { encodeText } from '../lib/utf8.ts'
import type { Logger } from '../observe/logger.ts'
import { createSecrets, type Secret } from './secrets.ts'
import { toleranceMsOf } from './timestamp.ts'
import { createVerifier } from './verify-request.ts'

/** What a check compares a request with. */
export interface CheckOptions {
  /** The endpoint's signing secret, or a list during a rotation. */
  readonly secret: Secret | undefined
  /** Maximum difference between `t` and the clock, in either direction. Default `'5m'`. `false` disables the check. */
  readonly tolerance?: Duration | false | undefined
  /** Overrides for parts that the platform may still change, as for a receiver. */
  readonly contract?: ContractOptions | undefined
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: (() => number) | undefined
}

/** A request whose body your own code has read, and what to compare it with. */
export interface VerifyRequestOptions extends CheckOptions {
  /** All headers of the request, such as Node's `request.headers` or a Fetch `Headers`. */
  readonly headers: HeaderSource
  /** Exact bytes from the wire, or their text if they are UTF-8. Never a parsed body, or one written again. */
  readonly body: Uint8Array | ArrayBuffer | string
}

/**
 * The event of a genuine request, or the reason why there is none. `reason` is the code that a receiver logs, and stable;
 * `detail` explains it. Show the sender neither.
 */
export type VerifiedRequest =
  | { readonly event: EventOf<'*'>; readonly reason?: undefined; readonly detail?: undefined }
  | { readonly event?: undefined; readonly reason: RefusalCode; readonly detail: string }

/**
 * Checks one request as a receiver does: header, signature, timestamp, envelope. Nothing is remembered or acknowledged, so
 * the same event may come again. Never rejects for what a sender can choose. Rejects with `ConfigurationError` for what is
 * your side's fault: a wrong option, a missing secret, or JSON that a parser has read before.
 *
 * @example
 * const { event, reason } = await verifyRequest({
 *   headers: request.headers,
 *   body: bytes,
 *   secret: process.env['SIGNING_SECRET'],
 * })
 * if (event === undefined) console.warn('refused:', reason)
 */
export async function verifyRequest(options: VerifyRequestOptions): Promise<VerifiedRequest> {
  refuseUnknownNames(options, [...CHECK_OPTIONS, 'headers', 'body'], '', EXAMPLE)
  const { headers, body, ...rest } = options
  const check = createCheck(rest)
  if (typeof headers !== 'object' || headers === null)
    throw new ConfigurationError('headers', 'must be all headers of the request: write request.headers')
  const bytes = bytesOf(body, headers)
  return bytes instanceof Refusal ? resultOf(bytes) : check(headers, bytes)
}

/** Steps 3 to 6 of a delivery, by the parts of a receiver. Throws `ConfigurationError` for a wrong option. */
export function createCheck(
  options: CheckOptions,
): (headers: HeaderSource, body: Uint8Array) => Promise<VerifiedRequest> {
  refuseUnknownNames(options, CHECK_OPTIONS, '', EXAMPLE)
  refuseNull({ ...options, secret: undefined })
  const { secret, tolerance, clock = Date.now } = options
  if (typeof secret === 'function')
    throw new ConfigurationError('secret', 'must be a secret or a list of them: call your function first')
  if (typeof clock !== 'function') throw new ConfigurationError('clock', 'must be a function')
  refuseGenerator('clock', clock)
  const contract = resolveContract(options.contract)
  const secrets = createSecrets<undefined>(secret as Secret, QUIET)
  const verify = createVerifier({ contract, secrets, toleranceMs: toleranceMsOf(tolerance), clock })
  const decode = createDecoder(contract, {})
  return async (headers, body) => {
    const unproven = await verify(headers, body, undefined)
    if (unproven !== undefined) return resultOf(unproven)
    const weight = weighBody(body, DEFAULT_BOUNDS)
    return resultOf(weight instanceof Refusal ? weight : await decode(body))
  }
}

export function resultOf(outcome: EventOf<'*'> | Refusal): VerifiedRequest {
  if (!(outcome instanceof Refusal)) return { event: outcome }
  return { reason: outcome.code, detail: outcome.detail ?? CODES[outcome.code].message }
}

const CHECK_OPTIONS = ['secret', 'tolerance', 'contract', 'clock'] satisfies (keyof CheckOptions)[]
const EXAMPLE = '{ headers: request.headers, body: bytes, secret: process.env.SIGNING_SECRET }'

/** A check writes nothing: what is doubtful about a secret is a receiver's to log, once. */
const QUIET: Logger = { info() {}, warn() {}, error() {} }

/**
 * Throws if a parser has read JSON, as the platform sends it: no delivery can be genuine then. Other parsers depend on the
 * Content-Type, which any stranger may choose, so what they leave is only refused.
 */
function bytesOf(body: unknown, headers: HeaderSource): Uint8Array | Refusal {
  if (typeof body === 'string') return encodeText(body)
  if (isBytes(body)) return body
  if (kindOf(body) === 'ArrayBuffer') return new Uint8Array(body as ArrayBuffer)
  const isJson = /^application\/json\b/i.test(headerOf(headers, 'content-type') ?? '')
  const isParsed = typeof body === 'object' && body !== null && Object.keys(body).length > 0
  if (isJson && isParsed) throw new ConfigurationError('body', PARSED)
  return new Refusal('body_unavailable', { detail: PARSED })
}

const PARSED =
  "must be the request's exact bytes, before any parser: in Express, express.raw({ type: () => true }) on this route, above express.json()"
