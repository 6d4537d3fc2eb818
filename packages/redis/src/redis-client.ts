/**
 * The part of a client that redisStore uses, for example `new Redis()` or `new Cluster()` of ioredis 5 or 6. Your
 * application connects, reconnects and closes the client.
 */
export interface RedisClient {
  evalsha(sha: string, keyCount: number, ...args: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...args: string[]): Promise<unknown>
  /** Sends a command: to claim a single key, to read the eviction policy, or to look for keys of an earlier version. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** `true` for Redis Cluster, where a command can only use keys of one slot. */
  readonly isCluster?: boolean
  /** Returns a Redis Cluster's servers whose eviction policy applies. */
  nodes?(role: 'master'): readonly Pick<RedisClient, 'call'>[]
  /** The master of each slot of a Redis Cluster, and its replicas, by name. */
  readonly slots?: readonly (readonly string[])[]
  readonly options?: {
    readonly keyPrefix?: string | undefined
    readonly connectTimeout?: number | undefined
    readonly redisOptions?: { readonly connectTimeout?: number | undefined } | undefined
  }
  readonly status?: string
  readonly stream?: unknown
  /** Opens another connection with the same settings: used while this client's own does not respond. */
  // biome-ignore lint/suspicious/noExplicitAny: the parameters of ioredis' two clients have nothing in common.
  duplicate?(...settings: any[]): RedisClient
  /** Closes a connection that `duplicate` opened. */
  disconnect?(): unknown
  /** Sends commands together, over one connection. Needed for the option `replicas`. */
  pipeline?(): RedisPipeline
  // biome-ignore lint/suspicious/noExplicitAny: the listener of an emitter takes whatever the event carries.
  on?(event: string, listener: (...args: any[]) => void): unknown
}

/** The part of a client's pipeline that redisStore uses. */
export interface RedisPipeline {
  // biome-ignore lint/suspicious/noExplicitAny: ioredis declares these methods in dozens of forms.
  evalsha(...args: any[]): unknown
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  eval(...args: any[]): unknown
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  call(...args: any[]): unknown
  exec(): Promise<readonly (readonly [error: Error | null, reply: unknown])[] | null>
}
