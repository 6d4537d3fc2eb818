/** Limit on queues: each costs two connections, and a question twice a second. */
export const MAX_QUEUES = 64

/**
 * The numbers of queues that an inbox has had, in its first queue. A process finds there which queues still hold events
 * or ids, and a tool how many there are.
 */
export interface QueueRecord {
  /** Milliseconds since a process last used each number. Empty for an inbox that never had more than one queue. */
  read(): Promise<ReadonlyMap<number, number>>
  /** A process uses this number now. */
  use(count: number): Promise<void>
  /** No process uses it, and nothing is left of it. */
  forget(count: number): Promise<void>
}
