import { failureTimeAt, type RedisBackend } from '../engine/bullmq-internals.ts'

/**
 * Stamps dead letters by the server's clock instead of the worker's: other processes delete them by their age. The script
 * would use that time to fetch the next job too, where it belongs to retries that the worker's clock has delayed, so no record of
 * a failure asks for one.
 */
export function stampFailures(backend: RedisBackend, now: () => Promise<number>): void {
  const execCommand = backend.execCommand.bind(backend)
  backend.execCommand = async (client, command, args) => {
    const timeAt = failureTimeAt(command, args)
    if (timeAt !== undefined) args[timeAt] = await now()
    return execCommand(client, command, args)
  }
}
