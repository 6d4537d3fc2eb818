import type { InsecureFlags, SecretFlags } from '../command/shared-options.ts'

export interface ConformanceFlags extends SecretFlags, InsecureFlags {
  readonly store?: string
  readonly inbox?: string
  readonly url?: string
  readonly bodyLimit?: number
  /** Ids of the cases to run. Absent: all. */
  readonly case?: readonly string[]
  readonly list?: boolean
  readonly json?: boolean
}
