import type { RedisClient } from './redis-client.ts'

/** The commands that the store sends. */
export type Commands = Pick<RedisClient, 'evalsha' | 'eval' | 'call'>

export interface Confirmation {
  /** Number of replicas that must have a write before it counts. */
  readonly replicas: number
  /** How long Redis waits for them. */
  readonly waitMs: number
}

/** A write that Redis has made and that too few replicas confirmed in time. `reply` is that of the write. */
export class UnconfirmedError extends Error {
  readonly reply: unknown

  constructor(confirmed: number, { replicas, waitMs }: Confirmation, reply: unknown) {
    super(`${confirmed} of ${replicas} replicas confirmed the write within ${waitMs} ms`)
    this.name = 'UnconfirmedError'
    this.reply = reply
  }
}

/**
 * The same commands, each of which succeeds only when enough replicas have it. `WAIT` follows in one pipeline, because it
 * is about the writes of its own connection: after a reconnection it would confirm nothing, and succeed. It
 * holds up the connection, so the client must be the store's own.
 */
export function confirmedByReplicas(client: RedisClient, confirmation: Confirmation): Commands {
  const { replicas, waitMs } = confirmation
  async function run(command: 'evalsha' | 'eval' | 'call', args: readonly unknown[]): Promise<unknown> {
    const pipeline = client.pipeline!()
    pipeline[command](...args)
    pipeline.call('wait', String(replicas), String(waitMs))
    const [written, waited] = (await pipeline.exec())!
    const [failure, reply] = written!
    if (failure !== null) throw failure
    const [unknown, confirmed] = waited!
    if (unknown !== null) throw unknown
    if (Number(confirmed) < replicas) throw new UnconfirmedError(Number(confirmed), confirmation, reply)
    return reply
  }
  return {
    evalsha: (...args) => run('evalsha', args),
    eval: (...args) => run('eval', args),
    call: (...args) => run('call', args),
  }
}
