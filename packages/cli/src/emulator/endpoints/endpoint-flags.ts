import type { Duration } from '@ackhook/core'
import type { EndpointFlags } from '../lib/emulator-flags.ts'

/** Source of a new secret. */
export interface SecretsFileFlags {
  readonly secretsFile?: string
}

export interface SetEndpointFlags extends EndpointFlags, SecretsFileFlags {
  readonly to?: string
  readonly category?: readonly string[]
  readonly allCategories?: boolean
  readonly type?: readonly string[]
  readonly allTypes?: boolean
}

export interface RotateFlags extends EndpointFlags, SecretsFileFlags {
  readonly overlap?: Duration
}
