import type { Duration } from '@ackhook/core'
import type { ContractFlags, SecretFlags } from '../command/shared-options.ts'

export interface ListenFlags extends SecretFlags, ContractFlags {
  readonly port: number
  readonly host: string
  readonly forward?: string
  readonly save?: string
  readonly count?: number
  readonly tolerance: Duration
  readonly json?: boolean
}
