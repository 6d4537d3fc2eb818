import type { Duration } from '@ackhook/core'
import type { InsecureFlags, SecretFlags, SentContractFlags } from '../command/shared-options.ts'

export interface ReplayFlags extends SecretFlags, SentContractFlags, InsecureFlags {
  readonly to: string
  readonly resign?: boolean
  readonly timeout: Duration
  readonly json?: boolean
}
