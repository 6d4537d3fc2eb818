import type { Duration } from '@ackhook/core'
import type { SecretFlags, SentContractFlags } from '../command/shared-options.ts'

export interface ReplayFlags extends SecretFlags, SentContractFlags {
  readonly to: string
  readonly resign?: boolean
  readonly timeout: Duration
  readonly json?: boolean
}
