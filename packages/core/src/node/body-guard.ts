import type { IncomingMessage } from 'node:http'
import { Refusal } from '../errors/refusal.ts'
import type { OpenBody, Place } from '../http/reading-bodies.ts'
import type { BodyLimits } from '../http/request.ts'
import { ByteCollector } from '../lib/byte-collector.ts'
import type { Timeout, Timeouts } from '../platform/platform.ts'

/** Size up to which chunks are joined. A single chunk of that size is not copied. */
const BLOCK_BYTES = 16_384

export const DECODED =
  'something turned the body into text, with setEncoding() or a stream of strings. Move the line that mounts the webhook route above it'

/**
 * Wraps a stream for the collector of its bytes, which is raw-body on Node: `on`, `removeListener` and `unpipe` are all
 * that raw-body calls. The guard emits 'data' and then 'end', or 'error' with a {@link Refusal}, within the limits and
 * whatever the stream does. It joins chunks because raw-body keeps each one, and a sender can send every byte as its own
 * chunk.
 */
export class BodyGuard implements OpenBody {
  readonly #stream: IncomingMessage
  readonly #limits: BodyLimits
  readonly #timeout: Timeout
  readonly #block = new ByteCollector()
  #onData: ((bytes: Uint8Array) => void) | undefined
  #onEnd: (() => void) | undefined
  #onError: ((refusal: Refusal) => void) | undefined
  #onReadable: (() => void) | undefined
  #length = 0
  /** Place among all bodies being read. */
  place: Place | undefined
  #isOver = false

  constructor(stream: IncomingMessage, limits: BodyLimits, timeouts: Timeouts) {
    this.#stream = stream
    this.#limits = limits
    this.#timeout = timeouts.set(this.#expire)
    stream.on('data', this.#add)
    stream.on('end', this.#end)
    stream.on('error', this.#abort)
    stream.on('close', this.#abort)
    stream.on('pause', goOn)
    // A stream with a listener for 'readable' does not flow: its bytes must be pulled.
    if (stream.listenerCount('readable') > 0) this.#pull()
    // Restarts a stream that was paused for something asynchronous.
    else stream.resume()
    limits.reading?.begin(this)
  }

  /** Keeps one listener for each event. None is called before the end of the turn that created the guard. */
  on(event: string, listener: (value?: unknown) => void): this {
    if (event === 'data') this.#onData = listener
    else if (event === 'end') this.#onEnd = listener
    else if (event === 'error') this.#onError = listener
    return this
  }

  /** Does nothing: no event follows 'end' or 'error'. */
  removeListener(): void {}

  /** Stops reading and leaves the rest with its sender. raw-body calls it after its own errors. */
  unpipe(): void {
    this.#finish()
    const stream = this.#stream
    stream.off('data', this.#add).off('end', this.#end).off('error', this.#abort)
    stream.off('close', this.#abort).off('pause', goOn)
    if (this.#onReadable !== undefined) stream.off('readable', this.#onReadable)
    stream.pause()
  }

  readonly #add = (chunk: Uint8Array | string): void => {
    this.#length += chunk.length
    if (!ArrayBuffer.isView(chunk)) {
      this.#refuse('body_unavailable', DECODED)
    } else if (this.#length > this.#limits.maxBytes) {
      this.#refuse('body_too_large', `over body.limit, ${this.#limits.maxBytes} bytes`)
    } else {
      this.#block.add(chunk)
      this.#limits.reading?.arrived(this, this.#length)
      if (this.#block.length >= BLOCK_BYTES) this.#onData?.(this.#block.take())
    }
  }

  /** Leaves its listeners on a stream that has ended: they do nothing any more, and removing them takes longer. */
  readonly #end = (): void => {
    // Node ends the body of a reset HTTP/2 stream as if it were complete.
    if (this.#stream.aborted) {
      this.#abort()
      return
    }
    const onData = this.#onData
    const onEnd = this.#onEnd
    this.#finish()
    onData?.(this.#block.take())
    onEnd?.()
  }

  readonly #abort = (): void => {
    if (!this.#isOver) this.#refuse('body_aborted', `the connection closed after ${this.#length} bytes`)
  }

  #pull(): void {
    this.#onReadable = () => {
      while (!this.#isOver && this.#stream.read() !== null);
    }
    this.#stream.on('readable', this.#onReadable)
  }

  readonly #expire = (): void =>
    this.#refuse('body_timeout', `${this.#length} bytes in ${this.#limits.timeoutMs} ms`)

  #refuse(code: Refusal['code'], detail: string): void {
    this.giveUp(new Refusal(code, { detail }))
  }

  /** Ends the reading with a refusal. */
  giveUp(refusal: Refusal): void {
    const onError = this.#onError
    this.unpipe()
    // Keeps a listener: the stream may still fail, and an unhandled 'error' event ends the process.
    if (!this.#stream.destroyed) this.#stream.on('error', () => {})
    onError?.(refusal)
  }

  /** Gives up the collector's listeners as well, because the stream may live on with its own. */
  #finish(): void {
    this.#isOver = true
    this.#timeout.cancel()
    this.#limits.reading?.end(this)
    this.#onData = this.#onEnd = this.#onError = undefined
  }
}

/** An unread Fetch stream around this one pauses it once its own buffer is full. */
function goOn(this: IncomingMessage): void {
  this.resume()
}
