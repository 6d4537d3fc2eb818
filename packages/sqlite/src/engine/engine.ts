import type { Batch, BatchResult, Terms } from '../protocol.ts'

/** Where the SQL runs: a thread of its own, or the calling one when the user brought the database. */
export interface Engine {
  /** Opens the file. Rejects with what is wrong with it; may be called again then. */
  open(): Promise<void>
  /** To be called before the first event. */
  setTerms(terms: Terms): void
  /** Rejects only when the engine itself broke down; what SQLite refuses is in the result. */
  run(batch: Batch): Promise<BatchResult>
  /** Nothing may be run afterwards. */
  close(): Promise<void>
}

/** For what is asked before a receiver has started: dead letters and figures, which depend on none of this. */
export const NO_TERMS: Terms = {
  capacity: 0,
  leaseMs: 60_000,
  minDelayMs: 0,
  maxDelayMs: 0,
  factor: 1,
}
