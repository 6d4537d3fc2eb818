import type { Claim, KeptRuns, RunCount, StoredId } from '@ackhook/core/spi'
import type { EventIdsState } from './bindings.ts'

/** Request of {@link durableObjectStore} to an object. */
export type Ask =
  | {
      readonly call: 'claim'
      readonly key: string
      readonly token: string
      readonly leaseMs: number
      readonly fingerprint: number
      readonly countForMs?: number | undefined
    }
  | { readonly call: 'extend'; readonly key: string; readonly token: string; readonly leaseMs: number }
  | {
      readonly call: 'complete'
      readonly key: string
      readonly token: string
      readonly retentionMs: number
      readonly fingerprint: number
    }
  | {
      readonly call: 'release'
      readonly key: string
      readonly token: string
      readonly kept?: KeptRuns | undefined
    }
  | { readonly call: 'forget' | 'lookup'; readonly key: string }

/** Status of a reply while the object has ids of an earlier version. */
export const HAS_EARLIER_IDS = 409

/** Shortest and longest interval between deletions of expired ids. */
const SOONEST_MS = 10_000
const LATEST_MS = 3_600_000

/**
 * `token` is null once the event was handled. `held` is 1 until the lease of a counted run is released. The tables carry the
 * number of their form: a change of it raises the number.
 */
const TABLE = `
  CREATE TABLE IF NOT EXISTS ids_2 (
    key TEXT PRIMARY KEY, token TEXT, until INTEGER NOT NULL, fingerprint INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS ids_2_until ON ids_2 (until);
  CREATE TABLE IF NOT EXISTS runs_2 (
    key TEXT PRIMARY KEY, lapses INTEGER NOT NULL, attempts INTEGER NOT NULL, held INTEGER NOT NULL, until INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS runs_2_until ON runs_2 (until)`

const NEXT =
  'SELECT min(until) AS next FROM (SELECT min(until) AS until FROM ids_2 UNION ALL SELECT min(until) FROM runs_2)'

interface Row {
  readonly token: string | null
  readonly until: number
  readonly fingerprint: number
}

/**
 * Durable Object of {@link durableObjectStore}, with the ids of handled and running events. Export it from the Worker's
 * main module. An alarm deletes expired ids.
 *
 * @example
 * export { EventIds } from '@ackhook/cloudflare'
 */
export class EventIds {
  /** Brand by which the types of Workers know a Durable Object. Only the compiler sees it. */
  declare readonly __DURABLE_OBJECT_BRAND: never
  readonly #storage: EventIdsState['storage']
  /** An earlier version left a table in this object. */
  readonly #hasEarlier: boolean

  constructor(state: EventIdsState) {
    this.#storage = state.storage
    this.#storage.sql.exec(TABLE)
    this.#hasEarlier =
      this.#storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'ids'").toArray().length > 0
  }

  /** Called by {@link durableObjectStore}. Each call is one step: nothing else runs in the object meanwhile. */
  async fetch(request: { json(): Promise<unknown> }): Promise<Response> {
    if (this.#hasEarlier && this.#holdsEarlier()) return new Response(null, { status: HAS_EARLIER_IDS })
    const answer = this.#answer((await request.json()) as Ask)
    if ((await this.#storage.getAlarm()) === null) await this.#storage.setAlarm(Date.now() + SOONEST_MS)
    return Response.json(answer)
  }

  /** Called by Workers. Deletes expired ids, and sets the next alarm if any ids are left. */
  async alarm(): Promise<void> {
    const now = Date.now()
    for (const table of ['ids_2', 'runs_2'])
      this.#storage.sql.exec(`DELETE FROM ${table} WHERE until <= ?`, now)
    const [{ next = null } = {}] = this.#storage.sql.exec(NEXT).toArray()
    if (typeof next !== 'number') return
    await this.#storage.setAlarm(now + Math.min(LATEST_MS, Math.max(SOONEST_MS, next - now)))
  }

  #answer(ask: Ask): Claim | StoredId | boolean {
    const row = this.#find(ask.key)
    switch (ask.call) {
      case 'claim':
        if (row?.token === null)
          return { outcome: row.fingerprint === ask.fingerprint ? 'completed' : 'conflict' }
        if (row !== undefined && row.token !== ask.token)
          return { outcome: 'in_flight', retryAfterMs: row.until - Date.now() }
        this.#put(ask.key, ask.token, ask.leaseMs, 0)
        return this.#begin(ask, row !== undefined)
      case 'extend':
        if (row?.token !== ask.token) return false
        this.#put(ask.key, ask.token, ask.leaseMs, 0)
        return true
      case 'complete':
        // An expired lease that nobody has taken is no obstacle, nor is an earlier completion whose reply was lost.
        if (row !== undefined && row.token !== null && row.token !== ask.token) return false
        if (row?.token !== null) this.#put(ask.key, null, ask.retentionMs, ask.fingerprint)
        this.#delete('runs_2', ask.key)
        return true
      case 'release':
        if (row?.token !== ask.token) return false
        if (ask.kept === undefined) this.#delete('runs_2', ask.key)
        else this.#keep(ask.key, ask.kept, 0, ask.kept.countForMs)
        return this.#delete('ids_2', ask.key)
      case 'forget':
        return row?.token === null && this.#delete('ids_2', ask.key)
      case 'lookup':
        if (row?.token === null) return { state: 'handled', leftMs: row.until - Date.now() }
        return { state: row === undefined ? 'unknown' : 'claimed' }
    }
  }

  /** Returns whether an id of an earlier version has not expired yet. */
  #holdsEarlier(): boolean {
    const live = 'SELECT 1 FROM ids WHERE until > ? LIMIT 1'
    return this.#storage.sql.exec(live, Date.now()).toArray().length > 0
  }

  /** Finds a live row: expired ones count as deleted. */
  #find(key: string): Row | undefined {
    const found = this.#storage.sql.exec(
      'SELECT token, until, fingerprint FROM ids_2 WHERE key = ? AND until > ?',
      key,
      Date.now(),
    )
    return found.toArray()[0] as Row | undefined
  }

  #put(key: string, token: string | null, ms: number, fingerprint: number): void {
    const until = Math.ceil(Date.now() + ms)
    this.#storage.sql.exec(
      'INSERT OR REPLACE INTO ids_2 (key, token, until, fingerprint) VALUES (?, ?, ?, ?)',
      key,
      token,
      until,
      fingerprint,
    )
  }

  /** Counts a new run. `isSame`: its claim repeated. */
  #begin({ key, leaseMs, countForMs }: Extract<Ask, { call: 'claim' }>, isSame: boolean): Claim {
    if (countForMs === undefined) {
      this.#delete('runs_2', key)
      return { outcome: 'claimed' }
    }
    const query = 'SELECT lapses, attempts, held FROM runs_2 WHERE key = ? AND until > ?'
    const [found] = this.#storage.sql.exec(query, key, Date.now()).toArray()
    const { lapses, attempts, held } = (found ?? NONE) as unknown as typeof NONE
    const runs = { lapses: held === 1 && !isSame ? lapses + 1 : lapses, attempts }
    this.#keep(key, runs, 1, leaseMs + countForMs)
    return { outcome: 'claimed', runs }
  }

  #keep(key: string, { lapses, attempts }: RunCount, held: 0 | 1, ms: number): void {
    const until = Math.ceil(Date.now() + ms)
    this.#storage.sql.exec(
      'INSERT OR REPLACE INTO runs_2 (key, lapses, attempts, held, until) VALUES (?, ?, ?, ?, ?)',
      key,
      lapses,
      attempts,
      held,
      until,
    )
  }

  #delete(table: 'ids_2' | 'runs_2', key: string): boolean {
    this.#storage.sql.exec(`DELETE FROM ${table} WHERE key = ?`, key)
    return true
  }
}

const NONE = { lapses: 0, attempts: 0, held: 0 }
