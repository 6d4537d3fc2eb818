import { AckhookError, ConfigurationError } from '@ackhook/core'
import type { Batch } from '../protocol/batch.ts'
import type { BatchResult } from '../protocol/batch-result.ts'
import type { Fault } from '../protocol/fault.ts'
import type { FileNotice } from '../protocol/file-notice.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'

/** Runs the SQL: in a thread of its own, or in the calling one if the user brought the database. */
export interface Engine {
  /** Opens the file. If it rejects, it may be called again. */
  open(): Promise<void>
  /** Calls `listener` with each line for the log about the place of the file. */
  onNotice(listener: (notice: FileNotice) => void): void
  /** Must be called before the first event. */
  setPolicy(policy: StoragePolicy): void
  /** Rejects only if the engine itself fails; the result contains SQLite's errors. */
  run(batch: Batch): Promise<BatchResult>
  /** Returns the error for a fault of this storage. */
  toError(fault: Fault): AckhookError
  /** Ends the engine: no batch may be run afterwards. */
  close(): Promise<void>
}

/** Returns the error for a fault. `option`: the one that the user set, `path` or `database`. */
export function toError(fault: Fault, option: string, name: string): AckhookError {
  const message = `${name}: ${fault.message}`
  if (fault.kind === 'configuration') return new ConfigurationError(option, message)
  return new AckhookError('inbox_unavailable', message)
}
