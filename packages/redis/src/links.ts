/// <reference path="./cluster-key-slot.d.ts" />
import calculateSlot from 'cluster-key-slot'
import { Breaker, type Permit } from './breaker.ts'
import { ConnectionReason } from './connection-reason.ts'
import type { RedisClient } from './redis-client.ts'

/** How long calls through the application's client may fail before the store opens a connection of its own. */
const CLIENT_PATIENCE_MS = 2000
/** The same for a connection of the store's own, which is replaced. Longer, because a new one has to connect first. */
const OWN_PATIENCE_MS = 4000
const CONNECT_TIMEOUT_MS = 3000
const SENTINEL_TIMEOUT_MS = 1000
const LONGEST_RECONNECT_MS = 1000

/** Name of the link to whichever server responds: the only one without Redis Cluster, and before a Cluster's slots are known. */
const ANY = ''

/** What the store sends a command through. */
export interface Connection {
  readonly client: RedisClient
  readonly reason: ConnectionReason
  /** True for one that the store has opened and may close. */
  readonly isOwn: boolean
  /** Monotonic milliseconds at which it was opened. */
  readonly since: number
}

/**
 * The links to the servers: one, or one for each master of a Redis Cluster, so that a dead master costs only its own slots.
 *
 * A client may keep a connection that the network has dropped, or that leads to a hung or former master, until the system
 * gives it up after 15 minutes. The application shares its client, so the store never closes that: it duplicates it,
 * and replaces the duplicate until one responds. It closes its own connections when the application closes the client.
 */
export class Links {
  readonly #client: RedisClient
  readonly #shared: Connection
  readonly #links = new Map<string, Link>()
  /** The latest connection of the store's own. */
  #own: Connection | undefined
  /** Socket of the application's client at the time the store last stopped using it. */
  #abandoned: unknown
  #isListening = false
  readonly #ownOnly: boolean

  /** `ownOnly`: the store's commands hold up their connection, so the application's client must not carry them. */
  constructor(client: RedisClient, { ownOnly }: { readonly ownOnly: boolean }) {
    this.#client = client
    this.#ownOnly = ownOnly
    this.#shared = connectionOf(client, { isOwn: false })
  }

  /** Returns the link to the server that holds this key, without the client's own prefix. */
  of(key: string): Link {
    return this.#named(this.#client.isCluster === true ? this.#masterOf(key) : ANY)
  }

  /** Returns the link for a command without a key. */
  get any(): Link {
    return this.#named(ANY)
  }

  #named(name: string): Link {
    let link = this.#links.get(name)
    if (link === undefined) {
      link = new Link(this.#first(), failing => this.#move(failing))
      this.#links.set(name, link)
    }
    return link
  }

  #first(): Connection {
    if (!this.#ownOnly || this.#client.status === 'end') return this.#shared
    return this.#own ?? this.#newest(this.#shared) ?? this.#shared
  }

  #masterOf(key: string): string {
    const slot = calculateSlot(`${this.#client.options?.keyPrefix ?? ''}${key}`)
    const { slots } = this.#ownOnly ? this.#first().client : this.#client
    return slots?.[slot]?.[0] ?? ANY
  }

  /** Gives a link whose calls fail another connection. */
  #move(link: Link): void {
    const { connection } = link
    if (this.#client.status === 'end') return
    const next = connection.isOwn && this.#hasReconnected() ? this.#shared : this.#newest(connection)
    if (next === undefined) return
    if (!connection.isOwn) this.#abandoned = this.#client.stream
    link.connection = next
    this.#closeUnused(connection)
  }

  /** Returns whether the application's client has opened another connection by itself. */
  #hasReconnected(): boolean {
    if (this.#ownOnly) return false
    const { status, stream } = this.#client
    return status === 'ready' && stream !== this.#abandoned
  }

  /** Returns a new connection, or one that another link has just opened. */
  #newest(failing: Connection): Connection | undefined {
    const own = this.#own
    if (own !== undefined && own !== failing && performance.now() - own.since < OWN_PATIENCE_MS) return own
    try {
      const opened = duplicateOf(this.#client)
      if (opened === undefined) return undefined
      this.#closeWithClient()
      if (own !== undefined && own !== failing) this.#closeUnused(own)
      this.#own = connectionOf(opened, { isOwn: true })
      return this.#own
    } catch {
      // A client of another kind, whose `duplicate` takes other options.
      return undefined
    }
  }

  #closeUnused(connection: Connection): void {
    if (!connection.isOwn) return
    for (const link of this.#links.values()) if (link.connection === connection) return
    connection.client.disconnect?.()
    if (this.#own === connection) this.#own = undefined
  }

  #closeWithClient(): void {
    if (this.#isListening) return
    this.#isListening = true
    this.#client.on?.('end', () => {
      const owned = new Set([...this.#links.values()].map(({ connection }) => connection))
      if (this.#own !== undefined) owned.add(this.#own)
      for (const link of this.#links.values()) link.connection = this.#shared
      for (const connection of owned) this.#closeUnused(connection)
    })
  }
}

/** The way to one server: its breaker, and the connection in use. */
export class Link {
  connection: Connection
  readonly #breaker = new Breaker()
  readonly #move: (link: Link) => void

  constructor(connection: Connection, move: (link: Link) => void) {
    this.connection = connection
    this.#move = move
  }

  /** The last failure. */
  get cause(): unknown {
    return this.#breaker.cause
  }

  /** Returns `undefined` if no call may be made now. Otherwise make it through `connection`, and report its result. */
  enter(): Permit | undefined {
    const permit = this.#breaker.enter()
    if (permit !== undefined && this.#breaker.openForMs > 0) this.#review()
    this.connection.reason.watch()
    return permit
  }

  /** Changes the connection before a probe if it has had its time. */
  #review(): void {
    const { since, isOwn } = this.connection
    const failingForMs = Math.min(this.#breaker.openForMs, performance.now() - since)
    if (failingForMs >= (isOwn ? OWN_PATIENCE_MS : CLIENT_PATIENCE_MS)) this.#move(this)
  }
}

function connectionOf(client: RedisClient, { isOwn }: { readonly isOwn: boolean }): Connection {
  const since = isOwn ? performance.now() : Number.NEGATIVE_INFINITY
  return { client, reason: new ConnectionReason(client), isOwn, since }
}

type Emitter = Pick<RedisClient, 'on'>

/** Opens another connection with the client's settings, but for those that would delay it. */
function duplicateOf(client: RedisClient): RedisClient | undefined {
  const { options } = client
  const connectTimeout = Math.min(
    options?.connectTimeout ?? options?.redisOptions?.connectTimeout ?? CONNECT_TIMEOUT_MS,
    CONNECT_TIMEOUT_MS,
  )
  const retryStrategy = (times: number) => Math.min(times * 50, LONGEST_RECONNECT_MS)
  const atOnce = { lazyConnect: false, enableOfflineQueue: true }
  const own =
    client.isCluster === true
      ? client.duplicate?.([], {
          ...atOnce,
          clusterRetryStrategy: retryStrategy,
          // ioredis 5 would replace all of them.
          redisOptions: { ...options?.redisOptions, connectTimeout },
        })
      : client.duplicate?.({
          ...atOnce,
          connectTimeout,
          retryStrategy,
          sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
        })
  // Without a listener, ioredis prints each failure to connect.
  own?.on?.('error', () => {})
  // A TLS socket that is closed during its handshake may emit a second error, and ioredis listens only to the first. It
  // creates its socket in the turn in which it begins to connect.
  own?.on?.('connecting', () =>
    setImmediate(() => (own.stream as Emitter | undefined)?.on?.('error', () => {})),
  )
  return own
}
