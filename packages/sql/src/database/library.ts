import type { MaybePromise } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Dialect, Isolation, Query } from './dialect.ts'

/** Settings of the transactions that this package opens. */
export interface TransactionSettings {
  readonly isolation: Isolation | undefined
  /** Options of the library's own transaction call. */
  readonly library: object | undefined
  /** Aborted when the work may take no longer. */
  readonly signal: AbortSignal
}

/** What this package knows about one database library. Its objects are recognized by their methods: no library is imported. */
export interface Library {
  /** As in 'a pg Pool'. */
  readonly name: string
  /** Recognizes databases, connections and transactions of this library. */
  is(object: object): boolean
  /** `undefined` if the object does not tell. */
  dialectOf(object: object): Dialect | undefined
  query(object: object, dialect: Dialect): Query
  /** Why this object cannot open a transaction for each event. */
  whyNoRoot?(object: object): string | undefined
  /** Why this object is not an open transaction. Asks the database, where the object does not tell that it has ended. */
  whyNotOpen(object: object, query: Query, dialect: Dialect): MaybePromise<string | undefined>
  /** Runs `work` in a new transaction, and commits. */
  transaction<R>(
    root: object,
    work: (tx: object) => Promise<R>,
    settings: TransactionSettings,
    dialect: Dialect,
  ): Promise<R>
  /** True if its transaction call takes options of its own. */
  readonly takesOptions?: true
  /** How many connections the object has at most, if that can be read. */
  poolSize?(root: object): number | undefined
  /** True if it may report a COMMIT that was rolled back. */
  doubtsCommit?(root: object): boolean
  /** True if the application has a transaction open on the only connection. */
  isTaken?(root: object): boolean
  /** True if all statements share one connection: then a statement outside waits for an open transaction. */
  sharesConnection?(root: object, dialect: Dialect): boolean
}

/** Returns whether an object has these methods. */
export function has(object: object, ...names: readonly string[]): boolean {
  return names.every(name => typeof (object as Readonly<Record<string, unknown>>)[name] === 'function')
}

/** Returns how many connections the pool of a driver has at most, if it tells. */
export function sizeOfPool(pool: unknown): number | undefined {
  const {
    options,
    config,
    pool: inner,
  } = Object(pool) as {
    readonly options?: { readonly max?: unknown }
    readonly config?: { readonly connectionLimit?: unknown }
    readonly pool?: unknown
  }
  const size =
    options?.max ?? config?.connectionLimit ?? (inner === undefined ? undefined : sizeOfPool(inner))
  return typeof size === 'number' && size > 0 ? size : undefined
}

/** A connection that this package begins and ends a transaction on. */
export interface TransactionControl {
  begin(): unknown
  commit(): unknown
  rollback(): unknown
  /** Gives the connection back. */
  keep(): void
  /** Ends the connection, whose transaction may be open: whoever got it next would be inside. */
  destroy(): void
}

const ROLLBACK_MS = 5000

/**
 * Runs `work` between BEGIN and COMMIT. What a connection answers to ROLLBACK tells whether it can be used again, and not
 * the error: that may be the handler's own, of another connection or service.
 */
export async function inTransaction<R>(work: () => Promise<R>, control: TransactionControl): Promise<R> {
  try {
    await control.begin()
  } catch (error) {
    control.destroy()
    throw error
  }
  try {
    const result = await work()
    await control.commit()
    control.keep()
    return result
  } catch (error) {
    // Also after a COMMIT that failed: SQLite then keeps the transaction open.
    if (await isRolledBack(control)) control.keep()
    else control.destroy()
    throw error
  }
}

async function isRolledBack({ rollback }: TransactionControl): Promise<boolean> {
  const rolledBack = (async () => rollback())()
  try {
    await withDeadline(rolledBack, { operation: 'ROLLBACK', ms: ROLLBACK_MS })
    return true
  } catch {
    return false
  }
}

/** Error for a transaction that the database rolled back although it was asked to commit. */
export class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** PostgreSQL answers COMMIT with ROLLBACK if a statement has failed, which drivers report as success. */
export function requireCommit(command: unknown): void {
  if (command !== 'COMMIT') throw new RolledBack(`COMMIT was answered with ${String(command)}`)
}

/** Settles like `work`, or rejects when the signal is aborted while `mayReject`: by default, at any time. */
export function untilAborted<R>(
  work: Promise<R>,
  signal: AbortSignal,
  mayReject = (): boolean => true,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      if (mayReject()) reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
}
