import { TAKE } from './statements.ts'

/** Runs each of BullMQ's commands on PostgreSQL. */
interface Backend {
  run(command: string, params: readonly unknown[]): Promise<unknown>
  query(text: string, params: readonly unknown[]): Promise<unknown>
}

/**
 * Makes a new lock expire by the server's clock, as a renewed one does. BullMQ's own expires by the worker's clock: if
 * that is behind, another worker would find the lock expired and run the event beside the first.
 */
export function lockByServerClock(backend: object): void {
  const bullmq = backend as Backend
  const run = bullmq.run.bind(bullmq)
  bullmq.run = (command, params) => {
    const take = TAKE[command]
    // BullMQ's own command runs with other arguments, as in a later BullMQ.
    return take?.values === params.length ? bullmq.query(take.text, params) : run(command, params)
  }
}
