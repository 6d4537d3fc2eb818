import type { Fault } from '../protocol/fault.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'
import type { Upgrade } from '../protocol/upgrade.ts'
import type { BatchMessage } from './batch-message.ts'
import type { ResultMessage } from './result-message.ts'

/** Data that a new thread starts with. */
export interface ThreadData {
  readonly path: string
  /** `false` if this process has had the file open before: leases in it may then be its own. */
  readonly isFirst: boolean
  /** True to create missing files and tables. */
  readonly create: boolean
  /** Shared memory of the `ExitGate`. */
  readonly gate: SharedArrayBuffer
}

export type ToThread =
  | BatchMessage
  | readonly [kind: 'policy', policy: StoragePolicy]
  | readonly [kind: 'close']

export type FromThread =
  | readonly [kind: 'results', results: readonly ResultMessage[]]
  | readonly [kind: 'open', upgrade: Upgrade | undefined]
  | readonly [kind: 'failed', fault: Fault]
