import { isError } from '@ackhook/core/spi'
import type { RedisClient } from './redis-client.ts'

/** Errors that Redis sends before it closes a connection. ioredis does not report them. */
const GREETING = /^-((?:ERR max number of clients|DENIED|LOADING|MASTERDOWN)[^\r\n]*)/
/** Messages of ioredis about commands that had no connection. */
const NO_CONNECTION =
  /^(?:Connection is closed\.$|Stream isn't writeable|Cluster isn't ready|Reached the max retries per request)/
/** Message of this package about commands that got no reply. */
const NO_REPLY = /^\S+ did not respond /

type Listener = (error: Error) => void

interface Emitter {
  readonly status?: string
  on?(event: string, listener: Listener): unknown
  off?(event: string, listener: Listener): unknown
  readonly stream?: { once(event: 'data', listener: (data: Uint8Array) => void): unknown } | undefined
}

/**
 * Reason why the user's client has no connection: the server's first error, otherwise the socket's. Listens to the
 * client only while it has no connection.
 */
export class ConnectionReason {
  readonly #client: Emitter
  readonly #listeners: Readonly<Record<string, Listener>>
  #watching = false
  #reason: Error | undefined
  /** True until something fails in this attempt to connect. */
  #isFirst = true

  constructor(client: RedisClient) {
    this.#client = client as Emitter
    this.#listeners = {
      connecting: () => {
        this.#isFirst = true
      },
      connect: () => this.#readGreeting(),
      error: error => this.#see(error),
      ready: () => this.#leave(),
    }
  }

  /** Listens to the client unless it is ready. Called for each command. */
  watch(): void {
    const { status } = this.#client
    if (this.#watching || status === undefined || status === 'ready') return
    this.#watching = true
    this.#isFirst = true
    for (const [event, listener] of Object.entries(this.#listeners)) this.#client.on?.(event, listener)
  }

  /** Returns the known reason if the failure only says that no reply arrived, otherwise the failure itself. */
  of(error: unknown): unknown {
    if (!hadNoConnection(error) && !NO_REPLY.test(messageOf(error))) return error
    return this.#reason ?? error
  }

  #leave(): void {
    this.#watching = false
    this.#reason = undefined
    for (const [event, listener] of Object.entries(this.#listeners)) this.#client.off?.(event, listener)
  }

  #readGreeting(): void {
    this.#client.stream?.once('data', data => {
      const [, text] = GREETING.exec(String.fromCharCode(...data.subarray(0, 200))) ?? []
      if (text !== undefined) this.#see(Object.assign(new Error(text), { name: 'ReplyError' }))
    })
  }

  #see(error: Error): void {
    if (this.#isFirst && !this.#isLess(error)) this.#reason = nodeErrorOf(error)
    this.#isFirst = false
  }

  /** Returns whether a write failed because the server has refused the connection, with a reason that is known. */
  #isLess(error: Error): boolean {
    const { code } = error as { readonly code?: unknown }
    return (code === 'EPIPE' || code === 'ECONNRESET') && this.#reason?.name === 'ReplyError'
  }
}

/** Returns whether a command failed only because its client has no connection at present. */
export function hadNoConnection(error: unknown): boolean {
  return NO_CONNECTION.test(messageOf(error))
}

function messageOf(error: unknown): string {
  return String(Object(error).message)
}

/** Returns a cluster's `lastNodeError`, which says why no node responds, or else the error itself. */
function nodeErrorOf(error: Error): Error {
  const { lastNodeError } = error as Error & { readonly lastNodeError?: unknown }
  return isError(lastNodeError) ? lastNodeError : error
}
