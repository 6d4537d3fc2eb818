import type { Duration } from '@ackhook/core'
import type { ContractFlags, InsecureFlags, SecretFlags } from '../command/shared-options.ts'

export interface ListenFlags extends SecretFlags, ContractFlags, InsecureFlags {
  readonly port: number
  readonly host: string
  readonly forward?: string
  readonly save?: string
  readonly count?: number
  /** Time limit for the reply to a forwarded delivery. */
  readonly timeout: Duration
  readonly tolerance: Duration
  readonly json?: boolean
}
