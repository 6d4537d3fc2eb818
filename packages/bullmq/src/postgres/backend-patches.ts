import { changed, type PostgresBackend } from '../engine/bullmq-internals.ts'
import { BY_SERVER_CLOCK } from './statements.ts'

/**
 * Limits the commands that a worker runs at a time, and leaves the pool's other connections to deliveries. Otherwise
 * hundreds of completions, all waiting for a slow disk, would delay deliveries until their senders give up.
 */
export function leaveConnections(backend: Pick<PostgresBackend, 'run'>, most: number): void {
  const run = backend.run.bind(backend)
  const waiting: (() => void)[] = []
  let running = 0
  async function runInTurn(command: string, params: readonly unknown[]): Promise<unknown> {
    if (running < most) running++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await run(command, params)
    } finally {
      // The next command gets its place.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
  backend.run = runInTurn
}

/**
 * Makes a new lock expire by the server's clock, as a renewed one does, and stamps the ends of jobs by it. BullMQ uses the
 * worker's: if that is behind, another worker would find the lock expired and run the event beside the first, or drop a
 * dead letter that is seconds old.
 */
export function useServerClock(backend: PostgresBackend): void {
  const run = backend.run.bind(backend)
  backend.run = async (command, params) => {
    const own = BY_SERVER_CLOCK[command]
    if (own === undefined) return run(command, params)
    // Its values would mean something else.
    if (own.values !== params.length) throw changed('the backend for PostgreSQL', command)
    return backend.query(own.text, params)
  }
}

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
