/** Limit on queues: each costs two connections, and a query twice a second. */
export const MAX_QUEUES = 64

/**
 * Numbers of queues that an inbox has had, stored in its first queue. They show processes which queues may still hold
 * events or ids, and tools how many queues there are.
 */
export interface QueueRecord {
  /** Milliseconds since a process last used each number. Empty for an inbox that never had more than one queue. */
  read(): Promise<ReadonlyMap<number, number>>
  /** Records that a process uses this number now. */
  use(count: number): Promise<void>
  /** Removes a number that no process uses, once its queues are empty. */
  forget(count: number): Promise<void>
}
