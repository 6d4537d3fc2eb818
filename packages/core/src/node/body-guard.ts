import type { IncomingMessage } from 'node:http'
import { Refusal } from '../errors/refusal.ts'
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
 * whatever the stream does. It then removes its listeners. It joins chunks because raw-body keeps each one, and a
 * sender can send every byte as its own chunk.
 */
export class BodyGuard {
  readonly #stream: IncomingMessage
  readonly #limits: BodyLimits
  readonly #timeout: Timeout
  readonly #listeners: Record<string, (chunk: Uint8Array | string) => void>
  readonly #collector: Record<string, (value?: unknown) => void> = {}
  #block = new ByteCollector()
  #length = 0
  /** Bytes in the count of all bodies being read. */
  #counted = 0
  #isOver = false

  constructor(stream: IncomingMessage, limits: BodyLimits, timeouts: Timeouts) {
    this.#stream = stream
    this.#limits = limits
    this.#timeout = timeouts.set(() =>
      this.#refuse('body_timeout', `${this.#length} bytes in ${limits.timeoutMs} ms`),
    )
    const abort = (): void =>
      this.#refuse('body_aborted', `the connection closed after ${this.#length} bytes`)
    this.#listeners = {
      data: chunk => this.#add(chunk),
      // Node ends the body of a reset HTTP/2 stream as if it were complete.
      end: () => (stream.aborted ? abort() : this.#end()),
      error: abort,
      close: abort,
      // An unread Fetch stream around this one pauses it once its own buffer is full.
      pause: () => void stream.resume(),
    }
    // A stream with a listener for 'readable' does not flow: its bytes must be pulled.
    const isWatched = stream.listenerCount('readable') > 0
    if (isWatched) this.#listeners['readable'] = () => this.#pull()
    for (const event in this.#listeners) stream.on(event, this.#listeners[event] as () => void)
    // Restarts a stream that was paused for something asynchronous.
    if (!isWatched) stream.resume()
  }

  /** Keeps one listener for each event. None is called before the end of the turn that created the guard. */
  on(event: string, listener: (value?: unknown) => void): this {
    this.#collector[event] = listener
    return this
  }

  /** Does nothing: no event follows 'end' or 'error'. */
  removeListener(): void {}

  /** Stops reading and leaves the rest with its sender. raw-body calls it after its own errors. */
  unpipe(): void {
    this.#isOver = true
    this.#timeout.cancel()
    if (this.#counted > 0) this.#limits.reading?.remove(this.#counted)
    this.#counted = 0
    for (const event in this.#listeners) this.#stream.off(event, this.#listeners[event] as () => void)
    this.#stream.pause()
  }

  #pull(): void {
    while (!this.#isOver && this.#stream.read() !== null);
  }

  #add(chunk: Uint8Array | string): void {
    this.#length += chunk.length
    if (!ArrayBuffer.isView(chunk)) {
      this.#refuse('body_unavailable', DECODED)
    } else if (this.#length > this.#limits.maxBytes) {
      this.#refuse('body_too_large', `over ${this.#limits.maxBytes} bytes`)
    } else if (this.#limits.reading?.add(chunk.length) === false) {
      this.#fail(this.#limits.reading.refusal())
    } else {
      this.#counted += chunk.length
      this.#block.add(chunk)
      if (this.#block.length >= BLOCK_BYTES) this.#handOn()
    }
  }

  #handOn(): void {
    this.#collector['data']?.(this.#block.take())
    this.#block = new ByteCollector()
  }

  #end(): void {
    this.unpipe()
    this.#handOn()
    this.#collector['end']?.()
  }

  #refuse(code: Refusal['code'], detail: string): void {
    this.#fail(new Refusal(code, { detail }))
  }

  #fail(refusal: Refusal): void {
    this.unpipe()
    // Keeps a listener: the stream may still fail, and an unhandled 'error' event ends the process.
    if (!this.#stream.destroyed) this.#stream.on('error', () => {})
    this.#collector['error']?.(refusal)
  }
}
