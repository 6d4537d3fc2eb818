import { ConfigurationError } from '@ackhook/core'
import { refuseUnknownNames } from '@ackhook/core/spi'
import { type OpenTransaction, transactionOf } from '../database/database.ts'
import type { Dialect } from '../database/dialect.ts'
import { withTables } from '../schema/check.ts'
import { requireText } from './marks.ts'

/** A state of an entity, for {@link newest}. */
export interface EntityState {
  /** What the state belongs to, such as a conversation's or a message's id. At most 255 bytes. */
  readonly entity: string
  /**
   * When the entity came into the state: the event's `created_at`. A number is milliseconds since the epoch, and refused if it
   * looks like seconds.
   */
  readonly at: string | number | Date
  /** Orders states of one time, or with `by: 'rank'` all states. A whole number. Default 0. */
  readonly rank?: number | undefined
  /** What decides first: `'time'` (default), or `'rank'`, for states that only ever go forward, such as sent < delivered < read. */
  readonly by?: 'time' | 'rank' | undefined
  /** Decides between states of one time and rank, so that every order of arrival ends the same. */
  readonly eventId?: string | undefined
  /** Keeps entities of different kinds, or different uses of one, apart. Default none. */
  readonly scope?: string | undefined
  /** Which database it is, for a transaction that does not tell. */
  readonly dialect?: Dialect | undefined
}

const NAMES = [
  'entity',
  'at',
  'rank',
  'by',
  'eventId',
  'scope',
  'dialect',
] as const satisfies readonly (keyof EntityState)[]

/**
 * Records a state in an open transaction, and resolves to whether no newer one of the entity is recorded. If not, leave the
 * entity's state as it is, and do the rest. The record is rolled back with the transaction.
 *
 * Rejects with `ConfigurationError` outside of a transaction, and for a wrong state.
 *
 * @example
 * const { once } = sqlEffects(new Pool({ connectionString: url }))
 * hooks.on('conversation.resolved', once('resolve', async ({ id, created_at, data }, tx) => {
 *   if (await newest(tx, { entity: data.conversation_id, at: created_at, eventId: id }))
 *     await tx.query('UPDATE conversations SET resolved_by = $1', [data.resolved_by])
 * }))
 */
export async function newest(tx: object, state: EntityState): Promise<boolean> {
  refuseUnknownNames(state, NAMES)
  const values = valuesOf(state)
  const transaction = await transactionOf(tx, { dialect: state.dialect })
  const columns =
    state.by === 'rank' ? (['state_rank', 'state_at'] as const) : (['state_at', 'state_rank'] as const)
  return withTables(transaction.dialect, () => record(transaction, values, columns))
}

export interface StateValues {
  readonly scope: string
  readonly entity: string
  readonly state_at: number
  readonly state_rank: number
  readonly event_id: string
}

type Columns = readonly ['state_at' | 'state_rank', 'state_at' | 'state_rank']

function valuesOf({ scope = '', entity, at, rank = 0, by = 'time', eventId = '' }: EntityState): StateValues {
  if (by !== 'time' && by !== 'rank') throw new ConfigurationError('by', "must be 'time' or 'rank'")
  if (!Number.isSafeInteger(rank)) throw new ConfigurationError('rank', 'must be a whole number')
  if (entity === '')
    throw new ConfigurationError('entity', "must not be empty: all entities' states would be one")
  return {
    scope: requireText('scope', scope),
    entity: requireText('entity', entity),
    state_at: microseconds(at),
    state_rank: rank,
    event_id: requireText('eventId', eventId),
  }
}

/** Milliseconds of 3 March 1973: a smaller number is one of seconds, as a rule. */
const LEAST_MS = 1e11

/** Returns microseconds since the epoch: `Date` would drop the last digits of a time such as `…56.123456Z`. */
function microseconds(at: unknown): number {
  const value = Math.trunc(millisecondsOf(at)) * 1000 + furtherDigits(at)
  if (Number.isSafeInteger(value)) return value
  const isSmall = typeof at === 'number' || typeof at === 'bigint'
  const found = isSmall
    ? `${at}, which is no time in milliseconds since the epoch`
    : 'no time that can be read'
  throw new ConfigurationError(
    'at',
    `must be a time with its zone, such as event.created_at, a Date, or milliseconds since the epoch; got ${found}`,
  )
}

/** `NaN` for what is no time. */
function millisecondsOf(at: unknown): number {
  if (typeof at === 'number') return Math.abs(at) >= LEAST_MS ? at : Number.NaN
  if (at instanceof Date) return at.getTime()
  // Without a zone, each process would read it by its own.
  if (typeof at === 'string' && /^\d{4}-\d\d-\d\d$|(?:z|[+-]\d\d:?\d\d)$/i.test(at))
    return new Date(at).getTime()
  return Number.NaN
}

function furtherDigits(at: unknown): number {
  const [, digits = ''] = typeof at === 'string' ? (/[.,]\d{3}(\d{1,3})/.exec(at) ?? []) : []
  return Number(digits.padEnd(3, '0'))
}

const COLUMNS = 'ackhook_states (scope, entity, state_at, state_rank, event_id)'

/** Returns whether the state is the newest one. The first of the columns decides before the second. */
export async function record(
  transaction: OpenTransaction,
  values: StateValues,
  columns: Columns,
): Promise<boolean> {
  const { dialect, query } = transaction
  if (dialect === 'mysql') return recordOnMysql(transaction, values, columns)
  const { scope, entity, state_at, state_rank, event_id } = values
  const [first, second] = columns
  const [T, B] = dialect === 'postgres' ? ['::text', '::bigint'] : ['', '']
  const table = COLUMNS.replace(' ', ' AS n ')
  const { rows } = await query(
    `INSERT INTO ${table} VALUES (?${T}, ?${T}, ?${B}, ?${B}, ?${T})
ON CONFLICT (scope, entity) DO UPDATE SET state_at = excluded.state_at, state_rank = excluded.state_rank, event_id = excluded.event_id
WHERE (n.${first}, n.${second}, n.event_id) <= (excluded.${first}, excluded.${second}, excluded.event_id) RETURNING 1 AS newest`,
    [scope, entity, state_at, state_rank, event_id],
  )
  return rows.length === 1
}

/** Older than any state. */
const NEVER = -Number.MAX_SAFE_INTEGER

/**
 * MySQL's upsert has no condition. The first statement only makes sure that there is a row, and locks it: INSERT IGNORE
 * would share the lock, and two of them would then deadlock.
 */
async function recordOnMysql(
  { query }: OpenTransaction,
  values: StateValues,
  [first, second]: Columns,
): Promise<boolean> {
  const { scope, entity, state_at, state_rank, event_id } = values
  await query(
    `INSERT INTO ${COLUMNS} VALUES (?, ?, ${NEVER}, ${NEVER}, '') ON DUPLICATE KEY UPDATE entity = entity`,
    [scope, entity],
  )
  const [one, two] = [values[first], values[second]]
  const isOlder = `(${first} < ? OR (${first} = ? AND (${second} < ? OR (${second} = ? AND event_id <= ?))))`
  const { affected } = await query(
    `UPDATE ackhook_states SET state_at = ?, state_rank = ?, event_id = ? WHERE scope = ? AND entity = ? AND ${isOlder}`,
    [state_at, state_rank, event_id, scope, entity, one, one, two, two, event_id],
  )
  if (affected > 0) return true
  // The same state again: the client may count only rows whose values differ. Not from an older snapshot.
  const same = await query(
    'SELECT 1 AS same FROM ackhook_states WHERE scope = ? AND entity = ? AND state_at = ? AND state_rank = ? AND event_id = ? FOR UPDATE',
    [scope, entity, state_at, state_rank, event_id],
  )
  return same.rows.length === 1
}
