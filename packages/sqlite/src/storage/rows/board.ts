import type { InboxProcess, PresenceView, PublishedHandlers } from '@ackhook/core/spi'
import { monotonicMs } from '../../protocol/monotonic-ms.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import type { Counts } from './counts.ts'

const PUBLISH =
  'INSERT OR REPLACE INTO ackhook_processes (id, published, seen_at, keep_ms) VALUES (?, ?, ?, ?)'
const DROP = 'DELETE FROM ackhook_processes WHERE seen_at + keep_ms < ?'
// Corrects times from before the machine was restarted, when its clock began again.
const SEE_AGAIN = 'UPDATE ackhook_processes SET seen_at = ?1 WHERE seen_at > ?1'
const READ = 'SELECT published, seen_at AS seenAt FROM ackhook_processes WHERE seen_at + keep_ms >= ?'

/**
 * Board on which the file's processes publish their handlers. Uses the time since the machine started: setting the
 * clock drops no entry.
 */
export class Board {
  readonly #counts: Counts
  readonly #publish: SqliteStatement
  readonly #drop: SqliteStatement
  readonly #seeAgain: SqliteStatement
  readonly #read: SqliteStatement

  constructor(database: SqliteDatabase, counts: Counts) {
    this.#counts = counts
    this.#publish = database.prepare(PUBLISH)
    this.#drop = database.prepare(DROP)
    this.#seeAgain = database.prepare(SEE_AGAIN)
    this.#read = database.prepare(READ)
  }

  publish(own: PublishedHandlers): void {
    const now = Math.round(monotonicMs())
    this.#publish.run(own.id, JSON.stringify(own), now, Math.round(own.keepMs))
    this.#seeAgain.run(now)
    this.#drop.run(now)
  }

  read(): PresenceView {
    const now = Math.round(monotonicMs())
    const rows = this.#read.all(now) as { readonly published: string; readonly seenAt: number }[]
    const processes = rows.flatMap(({ published, seenAt }): InboxProcess[] => {
      const own = parse(published)
      return own === undefined ? [] : [{ ...own, seenMs: Math.max(0, now - seenAt) }]
    })
    return { processes, postponed: this.#counts.total('postponed') }
  }
}

/** Returns `undefined` for an entry that no process can have published: it must not make the others unreadable. */
function parse(published: string): PublishedHandlers | undefined {
  try {
    const own: unknown = JSON.parse(published)
    const { id, patterns } = Object(own) as Partial<PublishedHandlers>
    return typeof id === 'string' && Array.isArray(patterns) ? (own as PublishedHandlers) : undefined
  } catch {
    return undefined
  }
}
