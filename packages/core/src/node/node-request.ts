// No import of `node:` is left at run time: the Hono adapter brings this file to Workers as well.
import type { IncomingMessage } from 'node:http'
import { platform } from '#platform'
import { ConfigurationError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import { PendingBody } from '../http/pending-body.ts'
import type { BodyLimits, ReadBody, WebhookRequest } from '../http/request.ts'
import { ByteCollector } from '../lib/byte-collector.ts'
import type { AsyncContext, Timeout, Timeouts } from '../platform/platform.ts'

/** A Node request as the receiver takes it. `stream`: where its bytes come from, when a framework laid one around it. */
export function fromNodeRequest<Context>(
  request: IncomingMessage,
  context: Context,
  stream: IncomingMessage = request,
): WebhookRequest<Context> {
  return {
    method: request.method ?? '',
    headers: request.headers,
    body: limits => readRawBody(stream, limits),
    context,
  }
}

/** What frameworks and hosts leave on a request when they read its body themselves. */
interface MaybeRead extends IncomingMessage {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/**
 * The exact bytes of a Node request: those that were kept exactly (`express.raw`, `captureRawBody`, Google Cloud
 * Functions), otherwise the stream's. A stream that something else has read has no bytes left: waiting for its end
 * would hang until the sender gives up, so it is refused at once, as is one that gives text and not bytes.
 */
export function readRawBody(request: MaybeRead, limits: BodyLimits): ReturnType<ReadBody> {
  if (request.rawBody instanceof Uint8Array) return request.rawBody
  if (request.body instanceof Uint8Array) return request.body
  if (request.readableDidRead || request.readableEnded)
    return new Refusal('body_unavailable', { detail: CONSUMED })
  if (typeof request.readableEncoding === 'string')
    return new Refusal('body_unavailable', { detail: DECODED })
  if (request.destroyed)
    return new Refusal('body_aborted', { detail: 'the connection closed before the body was read' })
  const body = new BodyReader(request, limits).start()
  return platform.capturesContext ? body : Promise.resolve(body)
}

const CONSUMED =
  'something read the body first, usually app.use(express.json()) or a hook. Move the line that mounts the webhook route above it, or keep the bytes with captureRawBody'
const DECODED =
  'something turned the body into text, with setEncoding() or a stream of strings. Move the line that mounts the webhook route above it'

/**
 * Keeps the exact bytes of a body that a parser is about to consume, for routes that cannot be mounted before
 * it. It keeps the bytes of every request it sees.
 *
 * @example
 * app.use(express.json({ verify: captureRawBody }))
 */
export function captureRawBody(request: IncomingMessage, _response: unknown, bytes: Uint8Array): void {
  // As a middleware it would get `next` there, and every request would hang.
  if (!(bytes instanceof Uint8Array))
    throw new ConfigurationError(
      'captureRawBody',
      'is for a parser: express.json({ verify: captureRawBody })',
    )
  Object.assign(request, { rawBody: bytes })
}

/**
 * Reads the bytes of one stream, and counts what is read, whatever `Content-Length` says. By listeners, which
 * stay on the request and hold nothing once the body is there. perf: notes 4, 8.
 */
class BodyReader extends PendingBody {
  readonly #request: IncomingMessage
  readonly #limits: BodyLimits
  readonly #timeout: Timeout
  #length = 0
  /** The whole body, as it mostly is: then nothing has to be collected. */
  #first: Uint8Array | undefined
  #collector: ByteCollector | undefined
  #isOver = false
  /** From the end of the body until somebody asks for it. */
  #body: Uint8Array | Refusal | undefined
  #done: ((body: Uint8Array | Refusal) => void) | undefined
  /** That of `#done`: the listeners of a stream run in another one. */
  #context: AsyncContext | undefined

  constructor(request: IncomingMessage, limits: BodyLimits) {
    super()
    this.#request = request
    this.#limits = limits
    this.#timeout = timeoutsOf(limits.timeoutMs).set(() =>
      this.#settle(
        new Refusal('body_timeout', { detail: `${this.#length} bytes in ${limits.timeoutMs} ms` }),
      ),
    )
  }

  start(): this {
    const request = this.#request
    // Asks for the body now and not in the next turn. perf: note 9.
    request.read(0)
    const isWatched = request.listenerCount('readable') > 0
    request
      .on('data', chunk => this.#add(chunk))
      .on('end', () => this.#settle(this.#collector?.take() ?? this.#first ?? NO_BYTES))
      // A Fetch stream around this request that is never read pauses it once its own buffer is full.
      .on('pause', () => this.#isOver || request.resume())
      // These two also after the end: an upload that breaks off must not become an uncaught 'error' event.
      .on('error', () => this.#abort())
      .on('close', () => this.#abort())
    // A stream with a listener for 'readable' does not flow: its bytes have to be asked for.
    if (isWatched) request.on('readable', () => this.#pull())
    // It may have been paused before, to wait for something asynchronous.
    else request.resume()
    return this
  }

  deliver(done: (body: Uint8Array | Refusal) => void): void {
    const body = this.#body
    this.#body = undefined
    if (body !== undefined) {
      queueMicrotask(() => done(body))
    } else {
      this.#done = done
      this.#context = platform.captureContext()
    }
  }

  #add(chunk: Uint8Array | string): void {
    if (this.#isOver) return
    if (typeof chunk === 'string') {
      this.#settle(new Refusal('body_unavailable', { detail: DECODED }))
      return
    }
    this.#length += chunk.length
    if (this.#length > this.#limits.maxBytes) {
      // Over first, so that the listener for 'pause' leaves it paused; whoever answers may read on.
      this.#isOver = true
      this.#request.pause()
      this.#handOver(new Refusal('body_too_large', { detail: `over ${this.#limits.maxBytes} bytes` }))
    } else if (this.#first === undefined) {
      this.#first = chunk
    } else {
      this.#collector ??= new ByteCollector(this.#first)
      this.#collector.add(chunk)
    }
  }

  #pull(): void {
    while (!this.#isOver && this.#request.read() !== null);
  }

  #abort(): void {
    if (this.#isOver) return
    this.#settle(new Refusal('body_aborted', { detail: `the connection closed after ${this.#length} bytes` }))
  }

  #settle(body: Uint8Array | Refusal): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handOver(body)
  }

  #handOver(body: Uint8Array | Refusal): void {
    this.#first = undefined
    this.#collector = undefined
    this.#timeout.cancel()
    const done = this.#done
    const context = this.#context
    this.#done = undefined
    this.#context = undefined
    if (done === undefined) this.#body = body
    else context?.(() => done(body))
  }
}

const NO_BYTES = new Uint8Array(0)

const byLength = new Map<number, Timeouts>()

function timeoutsOf(ms: number): Timeouts {
  const known = byLength.get(ms)
  if (known !== undefined) return known
  const timeouts = platform.createTimeouts(ms)
  byLength.set(ms, timeouts)
  return timeouts
}
