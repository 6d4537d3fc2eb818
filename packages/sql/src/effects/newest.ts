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
  /** When the entity came into the state: the event's `created_at`. A number is milliseconds since the epoch. */
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
  const recorded = transaction.dialect === 'mysql' ? recordOnMysql : record
  return withTables(transaction.dialect, () => recorded(transaction, values, columns))
}

interface StateValues {
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

/** Returns microseconds since the epoch: `Date` would drop the last digits of a time such as `…56.123456Z`. */
function microseconds(at: string | number | Date): number {
  // Without a zone, each process would read it by its own.
  const isRead = typeof at !== 'string' || /^\d{4}-\d\d-\d\d$|(?:z|[+-]\d\d:?\d\d)$/i.test(at)
  const ms = typeof at === 'number' ? at : isRead ? new Date(at).getTime() : Number.NaN
  const [, digits = ''] = typeof at === 'string' ? (/[.,]\d{3}(\d{1,3})/.exec(at) ?? []) : []
  const value = Math.trunc(ms) * 1000 + Number(digits.padEnd(3, '0'))
  if (Number.isSafeInteger(value)) return value
  throw new ConfigurationError(
    'at',
    'must be a time with its zone, such as event.created_at; got no time that can be read',
  )
}

const COLUMNS = 'ackhook_newest (scope, entity, state_at, state_rank, event_id)'

async function record(
  { dialect, query }: OpenTransaction,
  { scope, entity, state_at, state_rank, event_id }: StateValues,
  [first, second]: Columns,
): Promise<boolean> {
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
    `UPDATE ackhook_newest SET state_at = ?, state_rank = ?, event_id = ? WHERE scope = ? AND entity = ? AND ${isOlder}`,
    [state_at, state_rank, event_id, scope, entity, one, one, two, two, event_id],
  )
  if (affected > 0) return true
  // The same state again: the client may count only rows whose values differ. Not from an older snapshot.
  const same = await query(
    'SELECT 1 AS same FROM ackhook_newest WHERE scope = ? AND entity = ? AND state_at = ? AND state_rank = ? AND event_id = ? FOR UPDATE',
    [scope, entity, state_at, state_rank, event_id],
  )
  return same.rows.length === 1
}
