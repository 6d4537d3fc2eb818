import { failureOf, type RedisBackend } from '../engine/bullmq-internals.ts'

/**
 * Stamps dead letters by the server's clock instead of the worker's: other processes delete them by their age. The
 * script would also use that time to fetch the next job, where it belongs to retries that the worker's clock has delayed, so
 * the worker fetches the next job by itself.
 */
export function stampFailures(backend: RedisBackend, now: () => Promise<number>): void {
  const execCommand = backend.execCommand.bind(backend)
  backend.execCommand = async (client, command, args) => {
    const failure = failureOf(command, args)
    if (failure !== undefined) {
      args[failure.timeAt] = await now()
      args[failure.fetchNextAt] = 0
    }
    return execCommand(client, command, args)
  }
}
