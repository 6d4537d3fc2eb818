import type { SqliteDatabase } from '../database.ts'
import { DEAD, DONE } from '../schema/states.ts'

/** How many rows are not finished, kept along so that no arrival has to count them. */
export interface Tally {
  unfinished: number
  /** Counts again when another process has written to the file: not more than once a second. */
  refresh(now: number): void
}

const REFRESH_MS = 1000

export function createTally(database: SqliteDatabase): Tally {
  const version = database.prepare('PRAGMA data_version')
  const count = database.prepare(
    `SELECT (SELECT count(*) FROM ackhook_events WHERE state < ${DONE})
          + (SELECT count(*) FROM ackhook_events WHERE state > ${DEAD}) AS unfinished`,
  )
  let seen: unknown
  let countedAt = 0
  const tally: Tally = {
    unfinished: 0,
    refresh(now) {
      if (Math.abs(now - countedAt) < REFRESH_MS) return
      countedAt = now
      const { data_version: current } = version.get() as { readonly data_version: unknown }
      if (current === seen) return
      seen = current
      tally.unfinished = (count.get() as { readonly unfinished: number }).unfinished
    },
  }
  return tally
}
