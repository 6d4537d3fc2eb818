/**
 * The part of a client that redisStore uses, for example `new Redis()` or `new Cluster()` of ioredis 5 or 6. Your
 * application connects, reconnects and closes the client.
 */
export interface RedisClient {
  evalsha(sha: string, keyCount: number, ...args: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...args: string[]): Promise<unknown>
  /** Sends a command: to claim a single key, or to read the eviction policy. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** `true` for Redis Cluster, where a command can only use keys of one slot. */
  readonly isCluster?: boolean
  /** Returns a Redis Cluster's servers whose eviction policy applies. */
  nodes?(role: 'master'): readonly Pick<RedisClient, 'call'>[]
}
