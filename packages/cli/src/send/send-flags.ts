import type { Duration } from '@ackhook/core'
import type { InsecureFlags, SecretFlags, SentContractFlags } from '../command/shared-options.ts'

export interface SendFlags extends SecretFlags, SentContractFlags, InsecureFlags {
  readonly to: string
  readonly data?: string
  readonly id?: string
  readonly repeat: number
  readonly duplicate?: boolean
  readonly rate?: number
  readonly concurrency: number
  readonly attempts: number
  readonly timeout: Duration
  readonly dryRun?: boolean
  readonly curl?: boolean
  readonly json?: boolean
}

export interface ListFlags {
  readonly to?: string
  readonly list?: boolean
  readonly fromFile?: string
}
