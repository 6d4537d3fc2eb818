import type { Fault } from '../protocol/fault.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'
import type { BatchMessage } from './batch-message.ts'
import type { ResultMessage } from './result-message.ts'

/** Data that a new thread starts with. */
export interface ThreadData {
  readonly path: string
  /** `false` when this process has had the file open before: then leases in it may be its own. */
  readonly isFirst: boolean
  /** True if missing files and tables are to be created. */
  readonly create: boolean
  /** Memory of the gate before the driver. */
  readonly gate: SharedArrayBuffer
}

export type ToThread =
  | BatchMessage
  | readonly [kind: 'policy', policy: StoragePolicy]
  | readonly [kind: 'close']

export type FromThread =
  | readonly [kind: 'results', results: readonly ResultMessage[]]
  | readonly [kind: 'open']
  | readonly [kind: 'failed', fault: Fault]
