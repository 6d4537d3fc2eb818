import type { InboxStats } from '@ackhook/core'
import type { StoreNotice } from '@ackhook/core/spi'
import type { Queries } from './typed-queries.ts'

/**
 * Finds what keeps rows of this database longest from being removed: the oldest transaction or snapshot of a session, of a
 * replica that reports its queries, of a replication slot, or of a prepared transaction. Other roles' sessions show their
 * snapshot, but not since when they have it.
 */
const OLDEST_SNAPSHOT = `
SELECT (SELECT n_dead_tup FROM pg_stat_all_tables WHERE relid = to_regclass('job')) AS dead,
  kind, name, xmin::text, floor(extract(epoch FROM statement_timestamp() - since) * 1000)::bigint AS open_ms
FROM (SELECT) AS always LEFT JOIN (
  SELECT CASE backend_type WHEN 'walsender' THEN 'replica' ELSE 'transaction' END AS kind,
    pid || coalesce(' (' || nullif(application_name, '') || ')', '') AS name, xact_start AS since,
    CASE WHEN backend_xid IS NULL OR age(backend_xmin) >= age(backend_xid) THEN backend_xmin ELSE backend_xid END AS xmin
  FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND backend_type IS DISTINCT FROM 'autovacuum worker'
    AND (datname = current_database() OR backend_type = 'walsender') AND coalesce(backend_xmin, backend_xid) IS NOT NULL
  UNION ALL SELECT 'slot', slot_name::text, NULL, xmin FROM pg_replication_slots WHERE xmin IS NOT NULL
  UNION ALL SELECT 'prepared', gid, prepared, transaction FROM pg_prepared_xacts WHERE database = current_database()
) AS holder ON true
ORDER BY age(xmin) DESC NULLS LAST, since, name LIMIT 1`

interface Row {
  readonly dead: string | null
  readonly kind: keyof typeof HOLDERS | null
  readonly name: string | null
  readonly xmin: string | null
  readonly open_ms: string | null
}

interface Bounds {
  readonly heldMs: number
  /** Numbers of dead rows: behind a snapshot that is held, and behind none. */
  readonly held: number
  readonly left: number
}

/** Who holds a snapshot, and how to end that. */
const HOLDERS = {
  transaction: (name: string) =>
    `a transaction of the server process ${name} is open. End it (SELECT pg_terminate_backend(…)), set idle_in_transaction_session_timeout, and run reports and pg_dump on a replica`,
  replica: (name: string) =>
    `a replica reports a query that runs on it (hot_standby_feedback), through the server process ${name}. End that query, or set hot_standby_feedback off`,
  slot: (name: string) =>
    `the replication slot '${name}' keeps an old state. Start its replica, or drop it (SELECT pg_drop_replication_slot(…))`,
  prepared: (name: string) =>
    `the prepared transaction '${name}' is open. End it (COMMIT PREPARED or ROLLBACK PREPARED)`,
} as const

/** A snapshot that is older is held: it is not just that of a statement that takes a while. */
const HELD_MS = 120_000
/** Dead rows behind a snapshot from which an event reads a hundred times as many pages as without them. */
const MANY_HELD = 20_000
/**
 * If nothing holds them, their index entries are skipped after the first read. An event leaves three, and autovacuum comes once a
 * minute: at 2,000 events a second, 360,000 are usual.
 */
const MANY_LEFT = 1_000_000
const BOUNDS: Bounds = { heldMs: HELD_MS, held: MANY_HELD, left: MANY_LEFT }

/**
 * Watches the dead rows of BullMQ's table. Each step of an event leaves one, and taking the next event reads past them. As long
 * as anything holds an old snapshot, PostgreSQL removes none of them, so that each event takes longer than the one before.
 */
export class DeadRows {
  readonly #queries: Queries
  readonly #bounds: Bounds
  /** Oldest snapshot in the last check, and when it was first seen. */
  #held: { readonly holder: string; readonly seenAt: number } | undefined
  #stats: Pick<InboxStats, 'oldestSnapshotMs' | 'deadRows'> = {}

  constructor(queries: Queries, bounds: Bounds = BOUNDS) {
    this.#queries = queries
    this.#bounds = bounds
  }

  /** Results of the last check. Empty before the first one. */
  get stats(): Pick<InboxStats, 'oldestSnapshotMs' | 'deadRows'> {
    return this.#stats
  }

  async check(): Promise<readonly StoreNotice[]> {
    const answer = await this.#queries.query<Row>(OLDEST_SNAPSHOT)
    const { dead, kind, name, xmin, open_ms } = answer.rows[0]!
    const heldMs = this.#heldMs(xmin === null ? undefined : `${kind} ${name} ${xmin}`, open_ms)
    const deadRows = Number(dead ?? 0)
    this.#stats = { oldestSnapshotMs: heldMs, deadRows }
    const { held, left } = this.#bounds
    if (heldMs >= this.#bounds.heldMs && deadRows >= held)
      return [snapshotHeld(HOLDERS[kind!](name!), atLeast(deadRows, held))]
    // A snapshot that was not there in the last check may have ended by the next one.
    return heldMs === 0 && deadRows >= left ? [manyDeadRows(atLeast(deadRows, left))] : []
  }

  /**
   * A snapshot that was there in the last check is held. Other sessions may have one for a moment, even in a long transaction:
   * each of its statements takes a new one.
   */
  #heldMs(holder: string | undefined, openMs: string | null): number {
    if (holder === undefined || holder !== this.#held?.holder) {
      this.#held = holder === undefined ? undefined : { holder, seenAt: performance.now() }
      return 0
    }
    return openMs === null ? performance.now() - this.#held.seenAt : Number(openMs)
  }
}

function snapshotHeld(what: string, rows: string): StoreNotice {
  return {
    code: 'postgres_snapshot_held',
    message: `PostgreSQL has kept ${rows} dead rows of BullMQ's table 'job' for over two minutes, and each event reads past them: events take ever longer. The cause: ${what}.`,
  }
}

function manyDeadRows(rows: string): StoreNotice {
  return {
    code: 'postgres_dead_rows',
    message: `BullMQ's table 'job' has ${rows} dead rows, and takes ever more space. Nothing holds an old snapshot: autovacuum is off, or does not keep up. Turn it on, or let it run more often: ALTER TABLE job SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000).`,
  }
}

/** A notice is repeated when its text changes: here, at each doubling. */
function atLeast(rows: number, bound: number): string {
  return `over ${(bound * 2 ** Math.floor(Math.log2(rows / bound))).toLocaleString('en')}`
}
