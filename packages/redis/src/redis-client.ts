/**
 * What redisStore asks of a client: `new Redis()` and `new Cluster()` of ioredis 5 and 6 have it. Connecting,
 * reconnecting and closing stay with whoever made the client.
 */
export interface RedisClient {
  evalsha(sha: string, keyCount: number, ...args: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...args: string[]): Promise<unknown>
  /** A claim that travels alone, and the eviction policy when processing starts. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** `true` for Redis Cluster, where one command can only touch keys of one slot. */
  readonly isCluster?: boolean
  /** Redis Cluster: the servers whose eviction policy counts. */
  nodes?(role: 'master'): readonly Pick<RedisClient, 'call'>[]
}
