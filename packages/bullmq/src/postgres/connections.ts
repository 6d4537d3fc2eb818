import { EventEmitter } from 'node:events'
import { settlesWithin } from '@ackhook/core/spi'
import { guardListenClients, type ListenClient, type PostgresBackend } from '../engine/bullmq-internals.ts'

type Listener = (error: Error) => void

/** BullMQ leaves an error listener on the user's pool with each of its connections. This class removes them. */
export class PoolListeners {
  readonly #emitter: EventEmitter
  readonly #added: Listener[] = []

  constructor(pool: object | undefined) {
    this.#emitter = pool instanceof EventEmitter ? pool : new EventEmitter()
  }

  /** Records the listeners that `make` adds. */
  track<T>(make: () => T): T {
    const before = new Set(this.#listeners())
    const made = make()
    this.#added.push(...this.#listeners().filter(listener => !before.has(listener)))
    return made
  }

  remove(): void {
    for (const listener of this.#added.splice(0)) this.#emitter.off('error', listener)
  }

  #listeners(): Listener[] {
    return this.#emitter.listeners('error') as Listener[]
  }
}

/** What ended a connection, for each that was taken out of a pool. The listeners stay: a pool does not hear what it throws away. */
const failures = new WeakMap<object, Error | undefined>()

function hear(client: Pick<EventEmitter, 'on'>): void {
  if (failures.has(client)) return
  failures.set(client, undefined)
  client.on('error', (error: Error) => void failures.set(client, error))
}

/**
 * Listens to each connection of a pool from the moment in which it is taken out. A pool listens only while a connection is
 * idle, and whoever awaits `connect()` hears nothing until the next turn: without a listener, a server that ends the
 * connection in the packet that says that it is ready would end the process. The query rejects by itself.
 */
export class HeardClients {
  readonly #pool: Pick<EventEmitter, 'on' | 'off'>

  constructor(pool: object) {
    this.#pool = pool as Pick<EventEmitter, 'on' | 'off'>
    this.#pool.on('acquire', hear)
  }

  stop(): void {
    this.#pool.off('acquire', hear)
  }
}

/** A client of a `pg` pool, as far as it shows whether it is still connecting. Not published by `pg`. */
interface PoolClient {
  readonly _connecting?: boolean
  readonly connection?: { readonly stream?: { destroy(): unknown } }
}

/**
 * Ends attempts to connect that get no reply. A pool of the user's own, without `connectionTimeoutMillis`, waits for them
 * forever: a path that swallowed everything for a while would leave each of its places to such an attempt. No connection
 * that was ever established is touched. A `pg` without these properties keeps its own limits.
 */
export class StuckConnects {
  readonly #pool: { readonly _clients?: readonly PoolClient[] }
  readonly #silenceMs: number
  readonly #seenAt = new WeakMap<PoolClient, number>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(pool: object, silenceMs: number) {
    this.#pool = pool
    this.#silenceMs = silenceMs
    this.#timer = setInterval(() => this.#look(), silenceMs / 2)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    for (const client of this.#pool._clients ?? []) {
      if (client._connecting !== true) continue
      const seenAt = this.#seenAt.get(client) ?? now
      this.#seenAt.set(client, seenAt)
      if (now - seenAt >= this.#silenceMs) client.connection?.stream?.destroy()
    }
  }
}

/**
 * Replaces the connection on which BullMQ listens for new jobs if it gives no reply. It only receives, so a network that
 * has dropped it goes unnoticed until the system's own checks, minutes later, and every event would wait for the next
 * poll. Asks whenever the worker begins to wait.
 */
export function watchListener(backend: PostgresBackend, silenceMs: number): void {
  let listening: ListenClient | undefined
  guardListenClients(
    backend.connection,
    client => failures.get(client),
    client => {
      listening = client
    },
  )
  const waitForJob = backend.waitForJob.bind(backend)
  backend.waitForJob = timeoutS => {
    if (listening !== undefined) void replaceIfSilent(listening, silenceMs)
    return waitForJob(timeoutS)
  }
}

async function replaceIfSilent(client: ListenClient, silenceMs: number): Promise<void> {
  // A refusal is a reply too.
  if (await settlesWithin(client.query('SELECT'), silenceMs)) return
  // BullMQ listens on another connection when this one ends.
  client.connection?.stream?.destroy()
}
