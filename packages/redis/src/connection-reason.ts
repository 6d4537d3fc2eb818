import { isError } from '@ackhook/core/spi'
import type { RedisClient } from './redis-client.ts'

/** Redis says these before it closes a connection, and ioredis keeps them to itself: it asked for something else. */
const GREETING = /^-((?:ERR max number of clients|DENIED|LOADING|MASTERDOWN)[^\r\n]*)/
/** Sentences of ioredis and of this package about commands that got no answer. */
const NO_ANSWER =
  /^(?:Connection is closed\.$|Stream isn't writeable|Cluster isn't ready|Reached the max retries per request|\S+ did not answer )/

type Listener = (error: Error) => void

interface Emitter {
  readonly status?: string
  on?(event: string, listener: Listener): unknown
  off?(event: string, listener: Listener): unknown
  readonly stream?: { once(event: 'data', listener: (data: Uint8Array) => void): unknown } | undefined
}

/**
 * Reason why the user's client has no connection: the server's first error, otherwise the socket's. The client has
 * listeners of this store only while it is without a connection.
 */
export class ConnectionReason {
  readonly #client: Emitter
  readonly #listeners: Readonly<Record<string, Listener>>
  #watching = false
  #reason: Error | undefined
  /** Nothing has failed in this attempt to connect. */
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

  /** Called for each command; leaves a client alone that is ready. */
  watch(): void {
    const { status } = this.#client
    if (this.#watching || status === undefined || status === 'ready') return
    this.#watching = true
    this.#isFirst = true
    for (const [event, listener] of Object.entries(this.#listeners)) this.#client.on?.(event, listener)
  }

  /** The reason of a failure, where that is only that there was no answer. */
  of(error: unknown): unknown {
    if (!NO_ANSWER.test(String(Object(error).message))) return error
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

  /** A write that fails because the server has refused the connection: its words were lost with it, or came before. */
  #isLess(error: Error): boolean {
    const { code } = error as { readonly code?: unknown }
    return (code === 'EPIPE' || code === 'ECONNRESET') && this.#reason?.name === 'ReplyError'
  }
}

/** A cluster says that no node answers, and why under another name. */
function nodeErrorOf(error: Error): Error {
  const { lastNodeError } = error as Error & { readonly lastNodeError?: unknown }
  return isError(lastNodeError) ? lastNodeError : error
}
