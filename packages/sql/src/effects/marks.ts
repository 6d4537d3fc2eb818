import { ConfigurationError } from '@ackhook/core'
import type { OpenTransaction } from '../database/database.ts'
import type { Query } from '../database/dialect.ts'
import { isLocked } from '../database/transient.ts'
import { withTables } from '../schema/check.ts'
import { NOW } from '../schema/ddl.ts'

/** One handler's mark for one event. The primary key of these three decides which of several attempts takes effect. */
export interface Mark {
  readonly eventId: string
  readonly handler: string
  readonly namespace: string
}

/** `busy`: another transaction holds the mark, and has neither committed nor rolled back. */
export type ClaimedMark = 'claimed' | 'done' | 'busy'

const MAX_BYTES = 255

/** Returns whether every database keeps the text as it is. */
export function canBeStored(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    Buffer.byteLength(text) <= MAX_BYTES &&
    !text.includes('\0') &&
    !/\p{Surrogate}/u.test(text)
  )
}

/** Throws `ConfigurationError` for a text that a database would cut, refuse or change: two would then be one. */
export function requireText(option: string, text: unknown): string {
  if (canBeStored(text)) return text
  throw new ConfigurationError(
    option,
    `must be a string of at most ${MAX_BYTES} bytes, without NUL or lone surrogates`,
  )
}

/** Throws `ConfigurationError` unless it can identify a handler in the marks. */
export function requireName(name: string): string {
  if (name === '')
    throw new ConfigurationError('name', 'must not be empty: it identifies the handler in the marks')
  return requireText('name', name)
}

export function markOf(eventId: string, handler: string, namespace: string): Mark {
  return {
    eventId: requireText('event.id', eventId),
    handler: requireName(handler),
    namespace: requireText('namespace', namespace),
  }
}

const COLUMNS = 'ackhook_once (event_id, handler, namespace, done_at)'

const CLAIM = {
  // The lock only avoids a wait on a connection of the pool. A plain ON CONFLICT would wait for the other transaction.
  postgres: `INSERT INTO ${COLUMNS} SELECT ?::text, ?::text, ?::text, ${NOW.postgres}
WHERE pg_try_advisory_xact_lock(hashtextextended(?::text, 0)) ON CONFLICT DO NOTHING RETURNING 1 AS claimed`,
  // Waits for no lock on MariaDB. IGNORE, because the count of an upsert depends on the client.
  mysql: `/*M! SET STATEMENT innodb_lock_wait_timeout=0 FOR */ INSERT IGNORE INTO ${COLUMNS} VALUES (?, ?, ?, ${NOW.mysql})`,
  sqlite: `INSERT INTO ${COLUMNS} VALUES (?, ?, ?, ${NOW.sqlite}) ON CONFLICT DO NOTHING RETURNING 1 AS claimed`,
} as const

/**
 * Inserts the mark. Its transaction then makes it durable, together with the handler's writes. `isFirst`: no statement of the
 * transaction precedes this one.
 */
export function claimMark(
  transaction: OpenTransaction,
  mark: Mark,
  { isFirst }: { readonly isFirst: boolean },
): Promise<ClaimedMark> {
  return withTables(transaction.dialect, () => claim(transaction, mark, isFirst))
}

async function claim(
  { dialect, query }: OpenTransaction,
  mark: Mark,
  isFirst: boolean,
): Promise<ClaimedMark> {
  const key = [mark.eventId, mark.handler, mark.namespace]
  if (dialect === 'mysql') return claimOnMysql(query, key)
  if (dialect === 'sqlite') return (await query(CLAIM.sqlite, key)).rows.length === 1 ? 'claimed' : 'done'
  const where = isFirst ? UNUSED : ''
  const lock = `ackhook_once ${JSON.stringify(key)}`
  const { rows } = await query(CLAIM.postgres.replace(' ON CONFLICT', `${where} ON CONFLICT`), [...key, lock])
  if (rows.length === 1) return 'claimed'
  return (await hasMark({ dialect, query }, mark, where)) ? 'done' : 'busy'
}

/**
 * A transaction has no id before its first write. If it has one, a library could not roll back an earlier handler's, and gave
 * the connection back all the same: this one would commit what that one began. It counts as busy, and is rolled back.
 */
const UNUSED = ' AND txid_current_if_assigned() IS NULL'

async function claimOnMysql(query: Query, key: readonly string[]): Promise<ClaimedMark> {
  try {
    return (await query(CLAIM.mysql, key)).affected === 1 ? 'claimed' : 'done'
  } catch (error) {
    if (isLocked(error)) return 'busy'
    throw error
  }
}

export async function hasMark(
  { dialect, query }: OpenTransaction,
  { eventId, handler, namespace }: Mark,
  condition = '',
): Promise<boolean> {
  const t = dialect === 'postgres' ? '::text' : ''
  const text = `SELECT 1 AS done FROM ackhook_once WHERE event_id = ?${t} AND handler = ?${t} AND namespace = ?${t}${condition}`
  return (await query(text, [eventId, handler, namespace])).rows.length === 1
}

/** The database's clock counts whole milliseconds and is not the process's: without some, a mark could seem too young. */
const ROUNDED_MS = 20

/** Deletes a mark that is at least `ageMs` old: a younger one is another attempt's. */
export async function deleteMark(
  { dialect, query }: OpenTransaction,
  { eventId, handler, namespace }: Mark,
  ageMs: number,
): Promise<void> {
  const [T, B] = dialect === 'postgres' ? ['::text', '::bigint'] : ['', '']
  const text = `DELETE FROM ackhook_once WHERE event_id = ?${T} AND handler = ?${T} AND namespace = ?${T} AND done_at <= ${NOW[dialect]} - ?${B}`
  await query(text, [eventId, handler, namespace, Math.max(0, Math.floor(ageMs) - ROUNDED_MS)])
}

/** Deletes the marks of all handlers for an event. */
export async function deleteMarks(
  { dialect, query }: OpenTransaction,
  eventId: string,
  namespace: string,
): Promise<boolean> {
  const t = dialect === 'postgres' ? '::text' : ''
  const returned = dialect === 'sqlite' ? ' RETURNING 1 AS changed' : ''
  const text = `DELETE FROM ackhook_once WHERE event_id = ?${t} AND namespace = ?${t}${returned}`
  return (await query(text, [eventId, namespace])).affected > 0
}
