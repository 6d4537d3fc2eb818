/** Runs each of BullMQ's commands on PostgreSQL. */
interface Backend {
  run(command: string, params: readonly unknown[]): Promise<unknown>
}

/**
 * Lets a worker run so many commands at a time, and leaves the other connections of the pool to deliveries. Otherwise the ends
 * of hundreds of events, which wait for a slow disk together, would keep deliveries waiting for longer than a sender does.
 */
export function leaveConnections(backend: object, most: number): void {
  const run = (backend as Backend).run.bind(backend)
  const waiting: (() => void)[] = []
  let running = 0
  async function runInTurn(command: string, params: readonly unknown[]): Promise<unknown> {
    if (running < most) running++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await run(command, params)
    } finally {
      // The next one takes the place of this one.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
  Object.defineProperty(backend, 'run', { value: runInTurn })
}
