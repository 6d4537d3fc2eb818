import { ConfigurationError } from '@ackhook/core'
import { FaultError } from '../../protocol/fault.ts'
import { loadDriver, type OpenFile } from './driver.ts'

/**
 * `node:sqlite` if its SQLite is new enough, otherwise `@photostructure/sqlite`. Rejects with `ConfigurationError`
 * when there is neither.
 */
export async function chooseDriver(): Promise<OpenFile> {
  try {
    return await loadDriver()
  } catch (error) {
    if (error instanceof FaultError) throw new ConfigurationError('data', error.message, { cause: error })
    throw error
  }
}
