import type { Duration } from '@ackhook/core'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import { settingsOf } from '../database/database.ts'
import type { Dialect, Isolation } from '../database/dialect.ts'
import type { TransactionSettings } from '../database/library.ts'

/** Options of `sqlEffects`: how long marks are kept, and how its transactions are opened. */
export interface SqlEffectsOptions {
  /**
   * How long a mark is kept: longer than an event can come back. Default `'90d'`. The mark of an event that is a dead
   * letter is kept as long as the letter.
   */
  readonly retention?: Duration | undefined
  /**
   * How long a handler waits, without a connection, while another transaction holds its event or the database asks for a
   * repetition. Then the attempt fails, and the next one follows. Default `'5s'`.
   */
  readonly wait?: Duration | undefined
  /** Isolation level of the transactions. Default: the database's. */
  readonly isolation?: Isolation | undefined
  /** Options for the transaction call of Prisma, Drizzle or Knex, such as Prisma's `{ maxWait, timeout }`. */
  readonly transaction?: object | undefined
  /** Which database it is, for an object that does not tell. */
  readonly dialect?: Dialect | undefined
}

const NAMES = [
  'retention',
  'wait',
  'isolation',
  'transaction',
  'dialect',
] as const satisfies readonly (keyof SqlEffectsOptions)[]

const DAY_MS = 86_400_000

export interface ResolvedEffectsOptions extends Omit<TransactionSettings, 'limitMs'> {
  readonly retentionMs: number
  readonly waitMs: number
}

/** Throws `ConfigurationError`. */
export function resolveEffectsOptions(options: SqlEffectsOptions): ResolvedEffectsOptions {
  refuseUnknownNames(options, NAMES)
  const { retention = '90d', wait = '5s' } = options
  return {
    ...settingsOf(options),
    retentionMs: durationMs(retention, { option: 'retention', minMs: DAY_MS, maxMs: 3650 * DAY_MS }),
    waitMs: durationMs(wait, { option: 'wait', minMs: 0, maxMs: 600_000 }),
  }
}
