/**
 * What went wrong in the storage, as plain data: it may have to cross from one thread to another, where the
 * class of an error is lost.
 */
export interface Fault {
  /** `configuration`: only a change of the program or its environment helps. */
  readonly kind: 'configuration' | 'storage'
  readonly message: string
  /** SQLite's primary result code, where SQLite said it. */
  readonly code?: number
}

/** Carries a {@link Fault} up to where the storage is left. */
export class FaultError extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.name = 'FaultError'
    this.fault = fault
  }
}

export const BUSY = 5
export const FULL = 13
export const TOO_BIG = 18

/** Besides the size: a rule of the table, a type, a number of a parameter. */
const ALONE: readonly number[] = [TOO_BIG, 19, 20, 25]

/** Codes after which a connection is as good as before: somebody else was writing, no room, one value too large. */
const HARMLESS: readonly (number | undefined)[] = [BUSY, 6, FULL, TOO_BIG]

export function faultOf(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault
  const code = sqliteCode(error)
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'storage', message: message + hint(code), ...(code !== undefined && { code }) }
}

/**
 * Whether an error fails its own statement only, and the transaction goes on: a value that breaks a rule of the
 * table, that is too large or of a type that cannot be bound. Whatever may come from the disk is not among them.
 */
export function failsAlone(error: unknown): boolean {
  const code = sqliteCode(error)
  if (code !== undefined) return ALONE.includes(code)
  const thrown = (error as { readonly code?: unknown } | null | undefined)?.code
  return thrown === 'ERR_INVALID_ARG_TYPE' || thrown === 'ERR_INVALID_ARG_VALUE'
}

/** Whether to close the connection and to open another one for the next transaction. */
export function spoilsConnection(error: unknown): boolean {
  return !HARMLESS.includes(sqliteCode(error))
}

/** The primary result code, out of the extended one. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | null | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

const HINTS: Readonly<Record<number, string>> = {
  [BUSY]: ' (another process holds the file for longer than this one waits)',
  8: ' (this process may not write to the file or to its folder)',
  10: ' (the disk refused to read or write)',
  11: ' (the file is damaged: move it away with its -wal and -shm; then move a copy into its place, if you have one)',
  [FULL]: ' (the disk is full: free some space; nothing needs a restart)',
  14: ' (the folder must exist and be writable)',
  26: ' (the file is no SQLite database)',
}

function hint(code: number | undefined): string {
  return code === undefined ? '' : (HINTS[code] ?? '')
}
