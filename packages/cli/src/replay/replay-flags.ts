import type { Duration } from '@ackhook/core'
import type { ContractFlags, SecretFlags } from '../command/shared-options.ts'

export interface ReplayFlags extends SecretFlags, ContractFlags {
  readonly to: string
  readonly resign?: boolean
  readonly timeout: Duration
  readonly json?: boolean
}
