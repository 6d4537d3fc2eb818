import { adviceOn } from '@ackhook/core/advice'
import { type Fault, FaultError } from '../../protocol/fault.ts'

/** SQLite's primary result codes that decide what happens next. */
export const BUSY = 5
export const FULL = 13
export const TOO_BIG = 18
const LOCKED = 6
const CONSTRAINT = 19
const MISMATCH = 20
const RANGE = 25

/** Codes for a value that is too large, violates a constraint, or cannot be bound. */
const FAIL_ALONE: readonly number[] = [TOO_BIG, CONSTRAINT, MISMATCH, RANGE]

/** Errors after which a connection is still usable: locked by another process, disk full, one value too large. */
const HARMLESS: readonly (number | undefined)[] = [BUSY, LOCKED, FULL, TOO_BIG]

const DAMAGE: readonly (number | undefined)[] = [11, 26]

export function faultOf(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault
  const code = sqliteCode(error)
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'storage', message: message + hint(code), ...(code !== undefined && { code }) }
}

/**
 * Returns whether an error fails only its own statement, so that the transaction can go on. Errors that the disk may
 * cause never do.
 */
export function failsAlone(error: unknown): boolean {
  const code = sqliteCode(error)
  if (code !== undefined) return FAIL_ALONE.includes(code)
  const thrown = (error as { readonly code?: unknown } | null | undefined)?.code
  return thrown === 'ERR_INVALID_ARG_TYPE' || thrown === 'ERR_INVALID_ARG_VALUE'
}

/** Returns whether to close the connection and to open another one for the next transaction. */
export function spoilsConnection(error: unknown): boolean {
  return !HARMLESS.includes(sqliteCode(error))
}

/** Returns whether the file's contents are damaged, or no database. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.includes(sqliteCode(error))
}

/** Extracts the primary result code from the extended one. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | null | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Names of the primary result codes for which there is advice. */
const NAMES: Readonly<Record<number, string>> = {
  3: 'PERM',
  [BUSY]: 'BUSY',
  [LOCKED]: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  [FULL]: 'FULL',
  14: 'CANTOPEN',
  26: 'NOTADB',
}

function hint(code: number | undefined): string {
  const name = code === undefined ? undefined : NAMES[code]
  if (name === undefined) return ''
  const advice = adviceOn(Object.assign(new Error(name), { code: `SQLITE_${name}` }), 'sqlite')
  return advice === undefined ? '' : ` (${advice.cause}: ${advice.fix})`
}
