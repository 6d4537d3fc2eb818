import type { Duration } from '@ackhook/core'
import type { InsecureFlags, SecretFlags, SentContractFlags } from '../../command/shared-options.ts'
import type { FaultFlags } from '../lib/shared-options.ts'

export interface StartFlags extends SecretFlags, SentContractFlags, InsecureFlags {
  readonly port: number
  readonly host?: string
  readonly to?: string
  readonly data?: string
  readonly seed?: number
  readonly allowTarget?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly httpsOnly?: boolean
  readonly attempts?: number
  readonly timeout?: Duration
  readonly minDelay?: Duration
  readonly maxDelay?: Duration
  readonly fault?: FaultFlags
  readonly quiet?: boolean
  readonly json?: boolean
}
