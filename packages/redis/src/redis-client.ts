/**
 * The part of a client that redisStore uses: `new Redis()` and `new Cluster()` of ioredis 5 and 6 have it. Your
 * application connects, reconnects and closes the client.
 */
export interface RedisClient {
  evalsha(sha: string, keyCount: number, ...args: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...args: string[]): Promise<unknown>
  /** Sends a command: for a claim of a single key, and for the eviction policy when processing starts. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** `true` for Redis Cluster, where one command can only touch keys of one slot. */
  readonly isCluster?: boolean
  /** Redis Cluster: the servers whose eviction policy applies. */
  nodes?(role: 'master'): readonly Pick<RedisClient, 'call'>[]
}
