import type { Socket } from 'node:net'
import { isError } from '@ackhook/core/spi'
import type { RedisConnectionClient } from 'bullmq'

/**
 * Errors that Redis sends before it closes a connection. ioredis drops them, since they reply to none of its commands.
 */
const GREETING = /^-((?:ERR max number of clients|DENIED|LOADING|MASTERDOWN)[^\r\n]*)/
/** Part of the reply to ioredis' ready check. ioredis only waits while Redis loads its data. */
const LOADING = /\nloading:1\r/
/** Bytes to read for a reason. More than the ready check's reply has. */
const MAX_READ = 65_536
/** ioredis' own messages for commands that had no connection. */
const HAD_NO_CONNECTION =
  /^(?:Connection is closed\.$|Stream isn't writeable|Cluster isn't ready|Reached the max retries per request)/

/** Finds out why a client has no connection: from the server's first reply, or else from the socket's error. */
export class ConnectionReason {
  #reason: Error | undefined
  /** `true` while nothing has failed in this attempt to connect. */
  #isFirst = true
  #stopReading = (): void => {}

  constructor(client: RedisConnectionClient) {
    client.on?.('connecting', () => {
      this.#isFirst = true
    })
    client.on?.('connect', () => {
      this.#stopReading()
      this.#stopReading = readGreeting(client['stream'], error => this.#see(error))
    })
    client.on?.('error', (error: Error) => this.#see(error))
    client.on?.('ready', () => {
      this.#stopReading()
      this.#reason = undefined
      this.#isFirst = true
    })
  }

  /** Returns the reason for a missing connection, if the error says only that it is missing. */
  of(error: unknown): unknown {
    const { name, message } = Object(error) as Partial<Error>
    if (name === 'DeadlineError') return this.#reason ?? error
    if (!HAD_NO_CONNECTION.test(String(message))) return error
    return this.#reason ?? new Error('Redis closed the connection', { cause: error })
  }

  #see(error: Error): void {
    if (this.#isFirst && !this.#isLess(error)) this.#reason = nodeErrorOf(error)
    this.#isFirst = false
  }

  /**
   * Returns whether the error says less than the known reason: a write fails because the server has refused the
   * connection.
   */
  #isLess(error: Error): boolean {
    const { code } = error as NodeJS.ErrnoException
    return (code === 'EPIPE' || code === 'ECONNRESET') && this.#reason?.name === 'ReplyError'
  }
}

/** Unwraps a cluster's error, which says that no node replies and holds the cause under another name. */
function nodeErrorOf(error: Error): Error {
  const { lastNodeError } = error as Error & { readonly lastNodeError?: unknown }
  return isError(lastNodeError) ? lastNodeError : error
}

/** Reads the connection's data too, until the returned function is called. A cluster itself has no socket. */
function readGreeting(socket: Socket | undefined, onError: (error: Error) => void): () => void {
  let said = ''
  const stop = () => void socket?.off('data', read)
  function read(data: Buffer): void {
    said += data.toString('latin1')
    const refusal = GREETING.exec(said)?.[1]
    const text =
      refusal ?? (LOADING.test(said) ? 'LOADING Redis is loading the dataset in memory' : undefined)
    if (text !== undefined) onError(Object.assign(new Error(text), { name: 'ReplyError' }))
    if (text !== undefined || said.length > MAX_READ) stop()
  }
  socket?.on('data', read)
  return stop
}
