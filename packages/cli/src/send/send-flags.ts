import type { Duration } from '@ackhook/core'
import type { ContractFlags, SecretFlags } from '../command/shared-options.ts'

export interface SendFlags extends SecretFlags, ContractFlags {
  readonly to: string
  readonly data?: string
  readonly id?: string
  readonly repeat: number
  readonly duplicate?: boolean
  readonly rate?: number
  readonly concurrency: number
  readonly attempts: number
  readonly timeout: Duration
  readonly json?: boolean
}
