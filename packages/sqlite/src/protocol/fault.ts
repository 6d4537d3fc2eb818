/**
 * Failure of the storage, as plain data: it may have to cross from one thread to another, where the
 * class of an error is lost.
 */
export interface Fault {
  /** `configuration`: only a change of the program or its environment helps. */
  readonly kind: 'configuration' | 'storage'
  readonly message: string
  /** SQLite's primary result code, if SQLite reported one. */
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

export function isFault(result: object): result is Fault {
  return 'kind' in result
}
