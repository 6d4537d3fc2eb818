import type { Duration } from '@ackhook/core'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import { settingsOf } from '../database/database.ts'
import type { Dialect, Isolation } from '../database/dialect.ts'
import type { TransactionSettings } from '../database/library.ts'

/** Options of `sqlEffects`: how long a handler waits, and how its transactions are opened. */
export interface SqlEffectsOptions {
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
  'wait',
  'isolation',
  'transaction',
  'dialect',
] as const satisfies readonly (keyof SqlEffectsOptions)[]

export interface ResolvedEffectsOptions extends Omit<TransactionSettings, 'limitMs'> {
  readonly waitMs: number
}

/** Throws `ConfigurationError`. */
export function resolveEffectsOptions(options: SqlEffectsOptions): ResolvedEffectsOptions {
  refuseUnknownNames(options, NAMES)
  const { wait = '5s' } = options
  return {
    ...settingsOf(options),
    waitMs: durationMs(wait, { option: 'wait', minMs: 0, maxMs: 600_000 }),
  }
}
