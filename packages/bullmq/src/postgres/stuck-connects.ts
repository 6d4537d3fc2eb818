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
