import type { Duration } from '@ackhook/core'
import type { ContractFlags, SecretFlags } from '../command/shared-options.ts'

export interface VerifyFlags extends SecretFlags, ContractFlags {
  readonly tolerance: Duration
  readonly json?: boolean
}
