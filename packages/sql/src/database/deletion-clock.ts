import { JudgedClock, type StoreNotice, withDeadline } from '@ackhook/core/spi'
import type { Dialect, Result } from './dialect.ts'

const DEADLINE_MS = 1000

/** Decides whether rows may be deleted by their age. A server has one clock for all; a file has that of each machine. */
export class DeletionClock {
  readonly #judged: JudgedClock | undefined
  /** Newest time in the file before this process wrote to it. */
  #newest: number | undefined

  constructor(dialect: Dialect) {
    this.#judged = dialect === 'sqlite' ? new JudgedClock({ place: 'the database' }) : undefined
  }

  /** Called before the first row is written. `query` returns the newest time as `newest`. */
  async start(query: () => Promise<Result>): Promise<void> {
    if (this.#judged === undefined) return
    const limit = { operation: 'the newest time', ms: DEADLINE_MS }
    const newest = await withDeadline(query(), limit).then(
      ({ rows }) => rows[0]?.['newest'] ?? undefined,
      // The table is missing or locked, which other calls tell. A clock that is set is seen all the same.
      () => undefined,
    )
    this.#newest = newest === undefined ? undefined : Number(newest)
    this.#judged.read(this.#newest)
  }

  mayDelete(tell: (notice: StoreNotice) => void): boolean {
    if (this.#judged === undefined) return true
    const { isInDoubt } = this.#judged.read(this.#newest)
    for (const notice of this.#judged.takeNotices()) tell(notice)
    return !isInDoubt
  }
}
