import type { AckhookError } from '@ackhook/core'
import type { Batch } from '../protocol/batch.ts'
import type { BatchResult } from '../protocol/batch-result.ts'
import type { Fault } from '../protocol/fault.ts'
import type { FileNotice } from '../protocol/file-notice.ts'
import { NO_POLICY, type StoragePolicy } from '../protocol/storage-policy.ts'
import type { SqliteDatabase } from '../storage/driver/database.ts'
import { faultOf } from '../storage/driver/sqlite-errors.ts'
import { Storage } from '../storage/storage.ts'
import { type Background, startLeaseRenewal, startPruning, startWatching } from './background.ts'
import { type Engine, toError } from './engine.ts'

/** Works on a database that the user opens and closes, and that cannot leave this thread. */
export class LocalEngine implements Engine {
  readonly #storage: Storage
  #policy: StoragePolicy = NO_POLICY
  #pruning: Background | undefined
  #watching: Background | undefined
  #leaseRenewal: Background | undefined
  #onNotice: (notice: FileNotice) => void = () => {}

  constructor(database: SqliteDatabase, create: boolean) {
    const report = { notice: (notice: FileNotice): void => this.#onNotice(notice) }
    this.#storage = new Storage(() => database, undefined, create, { identity: undefined, report })
  }

  onNotice(listener: (notice: FileNotice) => void): void {
    this.#onNotice = listener
  }

  async open(): Promise<void> {
    try {
      this.#storage.open()
      this.#pruning ??= startPruning(this.#storage)
      this.#watching ??= startWatching(this.#storage)
    } catch (error) {
      throw this.toError(faultOf(error))
    }
  }

  setPolicy(policy: StoragePolicy): void {
    this.#policy = policy
    this.#leaseRenewal?.stop()
    this.#leaseRenewal = startLeaseRenewal(this.#storage, policy.leaseMs)
  }

  async run(batch: Batch): Promise<BatchResult> {
    const [result] = this.#storage.run([batch], this.#policy)
    return result as BatchResult
  }

  toError(fault: Fault): AckhookError {
    return toError(fault, 'database', 'the database')
  }

  async close(): Promise<void> {
    this.#pruning?.stop()
    this.#watching?.stop()
    this.#leaseRenewal?.stop()
    this.#storage.close()
  }
}
