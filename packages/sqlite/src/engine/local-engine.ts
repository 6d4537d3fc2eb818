import type { Terms } from '../protocol.ts'
import type { SqliteDatabase } from '../storage/database.ts'
import { faultOf } from '../storage/fault.ts'
import { createStorage } from '../storage/storage.ts'
import { startPruning, startRenewing } from './background.ts'
import { type Engine, NO_TERMS } from './engine.ts'
import { toError } from './to-error.ts'

/** Works on a database that the user opened, which cannot leave this thread, and which the user closes. */
export function createLocalEngine(database: SqliteDatabase): Engine {
  const storage = createStorage(() => database)
  let terms: Terms = NO_TERMS
  let pruning: { stop(): void } | undefined
  let renewing: { stop(): void } | undefined
  return {
    async open() {
      try {
        storage.open()
        pruning ??= startPruning(storage)
      } catch (error) {
        throw toError(faultOf(error), 'database', 'the database')
      }
    },
    setTerms(next) {
      terms = next
      renewing?.stop()
      renewing = startRenewing(storage, terms.leaseMs)
    },
    async run(batch) {
      const [result] = storage.run([batch], terms)
      if (result === undefined) throw new Error('the storage answered nothing')
      return result
    },
    async close() {
      pruning?.stop()
      renewing?.stop()
      storage.close()
    },
  }
}
