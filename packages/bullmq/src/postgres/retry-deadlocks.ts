import type { PostgresBackend } from '../engine/bullmq-internals.ts'

const MAX_TRIES = 5
/** Deadlock detected, or serialization failure if the database is set to that isolation level. */
const ROLLED_BACK: ReadonlySet<unknown> = new Set(['40P01', '40001'])
const MAX_WAIT_MS = 50

/**
 * Repeats a statement that PostgreSQL rolled back because of a deadlock. BullMQ's statements deadlock now and then: the
 * statement that completes a job also wakes the jobs that are due, in no fixed order. BullMQ would treat the deadlock
 * as a server failure, and the job would run again once its lock expires.
 */
export function retryDeadlocks(backend: PostgresBackend): void {
  const query = backend.query.bind(backend)
  backend.query = (text, params) => retryingDeadlocks(() => query(text, params))
}

export async function retryingDeadlocks<T>(query: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await query()
    } catch (error) {
      if (tries === MAX_TRIES || !ROLLED_BACK.has((error as { readonly code?: unknown }).code)) throw error
      await new Promise(resolve => setTimeout(resolve, Math.random() * MAX_WAIT_MS))
    }
  }
}
