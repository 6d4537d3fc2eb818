import type { PostgresBackend } from '../engine/bullmq-internals.ts'

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
