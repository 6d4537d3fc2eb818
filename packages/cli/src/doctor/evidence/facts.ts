import type { ContractOptions } from '@ackhook/core'
import {
  parseSignatureHeader,
  parseTimestamp,
  Refusal,
  resolveContract,
  type SignatureHeader,
} from '@ackhook/core/spi'
import type { CapturedRequest } from '../../delivery/captured-request.ts'
import { joinHeaders } from '../../delivery/join-headers.ts'
import type { NamedSecret } from '../../secrets/resolve-secrets.ts'

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

export interface FactOptions {
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
