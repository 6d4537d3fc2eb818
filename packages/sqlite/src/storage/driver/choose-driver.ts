import { ConfigurationError } from '@ackhook/core'
import { FaultError } from '../../protocol/fault.ts'
import { loadDriver, type OpenFile } from './driver.ts'

/**
 * `node:sqlite` if its SQLite is new enough, otherwise `@photostructure/sqlite`. Rejects with `ConfigurationError`
 * when there is neither. `oldest` is the first version that is new enough: a tool whose file has one connection can use
 * an older one than `sqliteInbox`.
 */
export async function chooseDriver(oldest?: string): Promise<OpenFile> {
  try {
    return await loadDriver(undefined, oldest)
  } catch (error) {
    if (error instanceof FaultError) throw new ConfigurationError('data', error.message, { cause: error })
    throw error
  }
}
