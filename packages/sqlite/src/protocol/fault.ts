/**
 * Storage failure as plain data: an error sent to another thread loses its class.
 */
export interface Fault {
  /** `configuration`: only a change to the program or its environment helps. */
  readonly kind: 'configuration' | 'storage'
  readonly message: string
  /** True if trying again cannot help in this process. */
  readonly isFinal?: true
  /** SQLite's primary result code, if SQLite reported one. */
  readonly code?: number
}

/** Carries a {@link Fault} out of the storage. */
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
