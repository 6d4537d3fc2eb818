import type { JudgedClock, JudgedTime } from '@ackhook/core/spi'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

/** The newest time is written this seldom: a week and a minute matter. */
const SAVE_EVERY_MS = 10_000

const NEWEST = 'SELECT newest FROM ackhook_clock'
const SAVE = `INSERT INTO ackhook_clock (id, newest) VALUES (1, ?1)
  ON CONFLICT (id) DO UPDATE SET newest = max(newest, excluded.newest)`

/** The time as the file's processes have agreed on it: the machine's clock, judged by the newest time that one has written. */
export class FileClock {
  readonly #judged: JudgedClock
  readonly #newest: SqliteStatement
  readonly #save: SqliteStatement

  constructor(database: SqliteDatabase, judged: JudgedClock) {
    this.#judged = judged
    this.#newest = database.prepare(NEWEST)
    this.#save = database.prepare(SAVE)
  }

  read(): JudgedTime {
    return this.#judged.read(this.#readNewest())
  }

  /** Called in each transaction. A clock in doubt must not become the newest time. */
  save(): JudgedTime {
    const newest = this.#readNewest()
    const time = this.#judged.read(newest)
    if (!time.isInDoubt && time.judged - (newest ?? 0) >= SAVE_EVERY_MS) this.#save.run(time.judged)
    return time
  }

  #readNewest(): number | undefined {
    return (this.#newest.get() as { readonly newest: number } | undefined)?.newest
  }
}
