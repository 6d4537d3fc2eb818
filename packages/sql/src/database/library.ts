import type { MaybePromise } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Dialect, Isolation, Query, Result } from './dialect.ts'
import { isWrongServer } from './transient.ts'

/** Settings of the transactions that this package opens. */
export interface TransactionSettings {
  readonly isolation: Isolation | undefined
  /** Options of the library's own transaction call. */
  readonly library: object | undefined
  /** Aborted when the work may take no longer. */
  readonly signal: AbortSignal
  /** Statement that a driver sends together with BEGIN, if it can. */
  readonly opening?: string | undefined
  /** Returns the statement that goes together with COMMIT, if the opening went with BEGIN. */
  readonly closing?: (() => string | undefined) | undefined
  /** Returns the statement by which another connection ends that of `tx`. */
  readonly terminate?: ((tx: object) => string | undefined) | undefined
}

/** `opened`: reply to the opening, if it was sent. */
export type TransactionWork<R> = (tx: object, opened?: Result) => Promise<R>

/** What this package knows about one database library. Its objects are recognized by their methods: no library is imported. */
export interface Library {
  /** As in 'a pg Pool'. */
  readonly name: string
  /** Its package, if newer versions than the tested ones are to be told. */
  readonly package?: string
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
    work: TransactionWork<R>,
    settings: TransactionSettings,
    dialect: Dialect,
  ): Promise<R>
  /** True if it sends a statement without parameters to MySQL as text, and returns the rows of several. */
  readonly compounds?: true
  /** True if its transaction call takes options of its own. */
  readonly takesOptions?: true
  /** How a transaction whose time is over is ended. Without it, the server ends the connection before the library hears of it. */
  readonly overdue?: 'destroyed' | 'by the library'
  /** How many connections the object has at most, if that can be read. */
  poolSize?(root: object): number | undefined
  /** Pool whose connections need a listener, or a process ends when one is lost. */
  pgPool?(root: object): object | undefined
  /** True if the user must listen to the connections: the library does not, and its pool is out of reach. */
  isUnheard?(dialect: Dialect): boolean
  /** True if the application has a transaction open on the only connection. */
  isTaken?(root: object): boolean
  /** True if all statements share one connection: then a statement outside waits for an open transaction. */
  sharesConnection?(root: object, dialect: Dialect): boolean
}

/** Returns whether an object has these methods. */
export function has(object: object, ...names: readonly string[]): boolean {
  return names.every(name => typeof (object as Readonly<Record<string, unknown>>)[name] === 'function')
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
 * the error: that may be the handler's own, of another connection or service. A connection to a server that takes no writes
 * answers as well, and is ended all the same.
 */
export async function inTransaction<R>(work: () => Promise<R>, control: TransactionControl): Promise<R> {
  try {
    await control.begin()
    const result = await work()
    await control.commit()
    control.keep()
    return result
  } catch (error) {
    // Also after a COMMIT that failed: SQLite then keeps the transaction open.
    const isUsable = !(error instanceof Overdue) && !isWrongServer(error) && (await isRolledBack(control))
    if (isUsable) control.keep()
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

/** Error for a transaction that is not committed although its handler succeeded. */
export class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** Error for a transaction that was ended because its handler did not end in time. */
export class Overdue extends Error {
  override readonly name = 'Overdue'
}

/** PostgreSQL answers COMMIT with ROLLBACK if a statement has failed, which drivers report as success. */
export function requireCommit(reply: unknown): void {
  const { command } = Object(Array.isArray(reply) ? reply.at(-1) : reply) as { readonly command?: unknown }
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

/** Calls `late` once the signal has been aborted for `graceMs` and the work has not ended. */
export function whenLate(
  work: Promise<unknown>,
  signal: AbortSignal,
  { graceMs, late }: { readonly graceMs: number; readonly late: () => void },
): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const abort = (): void => {
    timer = setTimeout(late, graceMs)
  }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  const ended = (): void => {
    signal.removeEventListener('abort', abort)
    clearTimeout(timer)
  }
  work.then(ended, ended)
}
