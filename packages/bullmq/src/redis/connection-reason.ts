import type { Socket } from 'node:net'
import { isError } from '@ackhook/core/spi'
import type { RedisConnectionClient } from 'bullmq'

/** Redis says these before it closes a connection, and ioredis keeps them to itself: it asked for something else. */
const GREETING = /^-((?:ERR max number of clients|DENIED|LOADING|MASTERDOWN)[^\r\n]*)/
/** The answer to the question by which ioredis learns whether it may send commands: while Redis loads, it only waits. */
const LOADING = /\nloading:1\r/
/** Longer than that answer. */
const MAX_READ = 65_536
/** ioredis' own sentences about commands that had no connection. */
const HAD_NO_CONNECTION =
  /^(?:Connection is closed\.$|Stream isn't writeable|Cluster isn't ready|Reached the max retries per request)/

/** Tells why a client has no connection: by the server's first words, or else by the socket's error. */
export class ConnectionReason {
  #reason: Error | undefined
  /** Nothing has failed in this attempt to connect. */
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

  /** The reason of a failure, where that is only that there was no connection. */
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

  /** A write that fails because the server has refused the connection: its words were lost with it, or came before. */
  #isLess(error: Error): boolean {
    const { code } = error as NodeJS.ErrnoException
    return (code === 'EPIPE' || code === 'ECONNRESET') && this.#reason?.name === 'ReplyError'
  }
}

/** A cluster says that no node answers, and why under another name. */
function nodeErrorOf(error: Error): Error {
  const { lastNodeError } = error as Error & { readonly lastNodeError?: unknown }
  return isError(lastNodeError) ? lastNodeError : error
}

/** Reads along until it is told to stop. A cluster has no socket of its own. */
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
