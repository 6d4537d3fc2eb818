import { createHmac } from 'node:crypto'
import type { ContractOptions } from '@ackhook/core'
import {
  parseSignatureHeader,
  parseTimestamp,
  Refusal,
  resolveContract,
  type SignatureHeader,
} from '@ackhook/core/spi'
import { type CapturedRequest, joinHeaders } from '../delivery/captured-request.ts'
import type { NamedSecret } from '../secrets/resolve-secrets.ts'

/** A cause and its fix. */
export interface Finding {
  /** Stable name, for scripts. */
  readonly cause: string
  /** `true` if the digest, or the request itself, proves it. Otherwise the evidence only suggests it. */
  readonly proven: boolean
  /** Cause and fix, in words for a newcomer. Never holds a secret. */
  readonly text: string
}

/** Looks for one cause in the facts of a request. Pure. */
export type Check = (facts: Facts) => Finding | undefined

/** An assumption that can be proved: with these changes, the signature must match. */
export interface Guess {
  readonly cause: string
  readonly text: string
  /** The bytes that may have been signed instead. */
  readonly body?: Uint8Array
  /** The key that may have been used instead. */
  readonly key?: string | Uint8Array
  /** Text that may have been signed before the body, instead of `<t>.`. */
  readonly prefix?: string
}

/** Assumes one kind of mishap, in every known form. Pure. */
export type Suppose = (facts: Facts) => readonly Guess[]

/** Facts about one delivery, before any guess. */
export interface Facts {
  readonly delivery: CapturedRequest
  /** Joined header lines with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Name of the signature header, in lower case. */
  readonly headerName: string
  readonly scheme: string
  readonly timestampUnit: 'auto' | 'seconds' | 'milliseconds' | 'iso8601'
  /** Original lines of the signature header. */
  readonly headerLines: readonly string[]
  /** Absent if its parts cannot be found. */
  readonly signature?: SignatureHeader
  /** Milliseconds since the epoch, parsed in any unit that fits. */
  readonly timestampMs?: number
  /** The secret that the app uses. */
  readonly secret: NamedSecret
  /** Other secrets that may be the right one. */
  readonly others: readonly NamedSecret[]
  /** The receiver's reason to refuse, or `accepted`. */
  readonly code: string
  readonly text: string
}

interface FactOptions {
  readonly secrets: readonly NamedSecret[]
  readonly contract?: ContractOptions | undefined
  readonly code: string
}

export function gatherFacts(delivery: CapturedRequest, options: FactOptions): Facts {
  const contract = resolveContract(options.contract)
  const headers = joinHeaders(delivery.headers)
  const value = headers[contract.header]
  const parsed = value === undefined ? undefined : parseSignatureHeader(value, contract.scheme)
  const signature = parsed instanceof Refusal ? undefined : parsed
  const timestampMs = signature && parseTimestamp(signature.timestamp, 'auto')
  const [secret, ...others] = options.secrets
  return {
    delivery,
    headers,
    headerName: contract.header,
    scheme: contract.scheme,
    timestampUnit: contract.timestampUnit,
    headerLines: delivery.headers
      .filter(([name]) => name.toLowerCase() === contract.header)
      .map(line => line[1]),
    ...(signature && { signature }),
    ...(timestampMs !== undefined && { timestampMs }),
    secret: secret as NamedSecret,
    others,
    code: options.code,
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(delivery.body),
  }
}

/** Returns whether any signature in the header matches the digest under these assumptions. */
export function proves(facts: Facts, ...guesses: readonly Partial<Guess>[]): boolean {
  const { signature, secret, delivery } = facts
  if (signature === undefined) return false
  const supposed = Object.assign({}, ...guesses) as Partial<Guess>
  const digest = createHmac('sha256', supposed.key ?? secret.value)
    .update(supposed.prefix ?? `${signature.timestamp}.`)
    .update(supposed.body ?? delivery.body)
    .digest('hex')
  return signature.signatures.some(one => one.toLowerCase() === digest)
}
