import { BOARD_IS_MISSING } from './board-tables.ts'
import { ARE_MISSING } from './tables.ts'
import type { Queries } from './typed-queries.ts'

/** PostgreSQL's code for a table that does not exist. */
const NO_TABLE = '42P01'

/**
 * Answers what this package's own tables would with nothing, as long as there are none: an inbox that never started has
 * stored nothing in them. A question that BullMQ's tables are missing for rejects.
 */
export function emptyBeforeStart(queries: Queries): Queries {
  const isMissing = async (question: string) =>
    (await queries.query<{ readonly missing: boolean }>(question)).rows[0]?.missing === true
  return {
    async query(text, values) {
      try {
        return await queries.query(text, values)
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== NO_TABLE) throw error
        if (!(await isMissing(ARE_MISSING)) && !(await isMissing(BOARD_IS_MISSING))) throw error
        return { rows: [] }
      }
    },
  }
}
