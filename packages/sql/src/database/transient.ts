/** Codes by which a database says that it rolled a transaction back, and that the same one may succeed now. */
const TRANSIENT: ReadonlySet<unknown> = new Set([
  // PostgreSQL: serialization failure, deadlock.
  '40001',
  '40P01',
  // MySQL: deadlock. MariaDB: a record has changed since the transaction read it.
  'ER_LOCK_DEADLOCK',
  1213,
  'ER_CHECKREAD',
  1020,
  // Prisma: write conflict or deadlock.
  'P2034',
  'TransactionWriteConflict',
  'SQLITE_BUSY',
  'SQLITE_BUSY_SNAPSHOT',
  'SQLITE_BUSY_RECOVERY',
])

/** Codes by which a claim says that another transaction holds the id: it does not wait for that. */
const LOCKED: ReadonlySet<unknown> = new Set(['ER_LOCK_WAIT_TIMEOUT', 1205])

/**
 * Codes by which a server says that it takes no writes: a standby or a former primary, to which a pool may keep its connections.
 * PostgreSQL; MySQL with an option such as --read-only, and for the transaction.
 */
const READ_ONLY: readonly unknown[] = [
  '25006',
  'ER_OPTION_PREVENTS_STATEMENT',
  1290,
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  1792,
]

const MISSING: ReadonlySet<unknown> = new Set([
  '42P01',
  '42703',
  'ER_NO_SUCH_TABLE',
  1146,
  'ER_BAD_FIELD_ERROR',
  1054,
])

/** Codes of SQLite in the number that `node:sqlite` reports: its lowest byte. */
const SQLITE_BUSY = 5

/** Returns whether the database itself asks to repeat the transaction. */
export function isTransient(error: unknown): boolean {
  return someError(error, one => codesOf(one).some(code => TRANSIENT.has(code)) || isBusySqlite(one))
}

/** Returns whether SQLite waited in vain for a transaction of another connection. */
export function isLockedFile(error: unknown): boolean {
  return someError(error, one => /^SQLITE_BUSY/.test(String(one['code'])) || isBusySqlite(one))
}

export function isLocked(error: unknown): boolean {
  return someError(error, one => codesOf(one).some(code => LOCKED.has(code)))
}

/** Returns whether a table or a column is missing. */
export function isMissingTable(error: unknown): boolean {
  return someError(
    error,
    one =>
      codesOf(one).some(code => MISSING.has(code)) ||
      /no such (?:table|column): |has no column named /.test(String(one['message'])),
  )
}

/** Returns whether the error has one of these codes, also inside the error of an ORM. */
export function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  return someError(error, one => codesOf(one).some(code => code !== undefined && codes.includes(code)))
}

/** Returns whether the connection works and leads to a server that takes no writes. */
export function isWrongServer(error: unknown): boolean {
  return hasCode(error, READ_ONLY)
}

/** Codes of a connection that is not there, of a server that has none to give, and of our own deadlines. */
const UNREACHABLE =
  /^(?:E(?!R_)[A-Z]+|PROTOCOL_\w+|CONNECTION_\w+|POOL_\w+|08...|57P0.|53...|1040|1203|P10\d\d|P2024|P2028|store_unavailable)$/

/** Returns whether the database could not be asked: what it would have said is not known. */
export function isUnreachable(error: unknown): boolean {
  return someError(
    error,
    one =>
      one['name'] === 'DeadlineError' ||
      codesOf(one).some(code => UNREACHABLE.test(String(code))) ||
      /connection (?:terminated|timeout|is closed)|timeout exceeded when trying to connect/i.test(
        String(one['message']),
      ),
  )
}

type Fields = Readonly<Record<string, unknown>>

function codesOf({ code, errno, sqlState, originalCode, kind }: Fields): readonly unknown[] {
  return [code, errno, sqlState, originalCode, kind]
}

function isBusySqlite({ errcode, message }: Fields): boolean {
  if (typeof errcode === 'number') return (errcode & 0xff) === SQLITE_BUSY
  return typeof message === 'string' && /database is locked/.test(message)
}

/** Looks at an error, and at those that an ORM wrapped in it. */
function someError(error: unknown, matches: (error: Fields) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false
  const fields = error as Fields
  if (matches(fields)) return true
  const inner = [
    fields['cause'],
    fields['original'],
    fields['driverError'],
    fields['meta'],
    fields['driverAdapterError'],
  ]
  return inner.some(one => someError(one, matches, depth + 1))
}
