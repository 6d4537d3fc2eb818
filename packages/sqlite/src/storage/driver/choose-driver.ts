import { ConfigurationError } from '@ackhook/core'
import { FaultError } from '../../protocol/fault.ts'
import { loadDriver, type OpenFile } from './driver.ts'

/**
 * Loads `node:sqlite` if its SQLite is new enough, otherwise `@photostructure/sqlite`. Rejects with `ConfigurationError`
 * if neither can be used. `oldest`: the first version that is new enough. A tool with a single connection to its file
 * can use an older one than `sqliteInbox`.
 */
export async function chooseDriver(oldest?: string): Promise<OpenFile> {
  try {
    return await loadDriver(undefined, oldest)
  } catch (error) {
    if (error instanceof FaultError) throw new ConfigurationError('data', error.message, { cause: error })
    throw error
  }
}
