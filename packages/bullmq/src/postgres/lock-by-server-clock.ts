import { changed, type PostgresBackend } from '../engine/bullmq-internals.ts'
import { TAKE } from './statements.ts'

/**
 * Makes a new lock expire by the server's clock, as a renewed one does. BullMQ's own expires by the worker's clock: if
 * that is behind, another worker would find the lock expired and run the event beside the first.
 */
export function lockByServerClock(backend: PostgresBackend): void {
  const run = backend.run.bind(backend)
  backend.run = async (command, params) => {
    const take = TAKE[command]
    if (take === undefined) return run(command, params)
    // Its values would mean something else.
    if (take.values !== params.length) throw changed('the backend for PostgreSQL', command)
    return backend.query(take.text, params)
  }
}
