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
  /**
   * How long marks are kept after their handler ran, at least `'7d'`; those of a dead letter, as long as the letter. Longer
   * than an event may wait, in retries or a pause. Only marks of handlers of this object are deleted. `false`: for ever.
   * Default `'90d'`. Needs the receiver's option `effects`, without which no mark is deleted.
   */
  readonly retention?: Duration | false | undefined
  /** Isolation level of the transactions. Default: the database's. */
  readonly isolation?: Isolation | undefined
  /** Options for the transaction call of Prisma or Drizzle, such as Prisma's `{ maxWait, timeout }`. */
  readonly transaction?: object | undefined
  /** Which database it is, for an object that does not tell. */
  readonly dialect?: Dialect | undefined
}

const DAY_MS = 86_400_000

const NAMES = [
  'wait',
  'retention',
  'isolation',
  'transaction',
  'dialect',
] as const satisfies readonly (keyof SqlEffectsOptions)[]

export interface ResolvedEffectsOptions extends Omit<TransactionSettings, 'signal'> {
  readonly waitMs: number
  /** Milliseconds; `undefined` for ever. */
  readonly retentionMs: number | undefined
}

/** Throws `ConfigurationError`. */
export function resolveEffectsOptions(options: SqlEffectsOptions): ResolvedEffectsOptions {
  refuseUnknownNames(options, NAMES)
  const { wait = '5s', retention = '90d' } = options
  return {
    ...settingsOf(options),
    waitMs: durationMs(wait, { option: 'wait', minMs: 0, maxMs: 600_000 }),
    retentionMs:
      retention === false
        ? undefined
        : durationMs(retention, { option: 'retention', minMs: 7 * DAY_MS, maxMs: 3650 * DAY_MS }),
  }
}
