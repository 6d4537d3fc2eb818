import type { RedisClient } from './redis-client.ts'

/** Redis says these before it closes a connection, and ioredis keeps them to itself: it asked for something else. */
const GREETING = /^-((?:ERR max number of clients|DENIED|LOADING|MASTERDOWN)[^\r\n]*)/
/** Sentences of ioredis and of this package about commands that got no answer. */
const NO_ANSWER =
  /^(?:Connection is closed\.$|Stream isn't writeable|Cluster isn't ready|Reached the max retries per request|\S+ did not answer )/

interface Emitter {
  on?(event: string, listener: (error: Error) => void): unknown
  readonly stream?: { once(event: 'data', listener: (data: Uint8Array) => void): unknown } | undefined
}

/** Why the user's client has no connection: what the server said first, otherwise the socket. */
export class ConnectionReason {
  #reason: Error | undefined
  /** Nothing has failed in this attempt to connect. */
  #isFirst = true

  constructor(client: RedisClient) {
    const emitter = client as Emitter
    if (typeof emitter.on !== 'function') return
    emitter.on('connecting', () => {
      this.#isFirst = true
    })
    emitter.on('connect', () =>
      emitter.stream?.once('data', data => {
        const [, text] = GREETING.exec(String.fromCharCode(...data.subarray(0, 200))) ?? []
        if (text !== undefined) this.#see(Object.assign(new Error(text), { name: 'ReplyError' }))
      }),
    )
    emitter.on('error', error => this.#see(error))
    emitter.on('ready', () => {
      this.#reason = undefined
      this.#isFirst = true
    })
  }

  /** The reason of a failure, where that is only that there was no answer. */
  of(error: unknown): unknown {
    if (!NO_ANSWER.test(String(Object(error).message))) return error
    return this.#reason ?? error
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
  return lastNodeError instanceof Error ? lastNodeError : error
}
