import { Refusal } from '../errors/refusal.ts'
import { type OpenBody, type Place, SMALL_BYTES } from '../http/reading-bodies.ts'
import { type BodyLimits, LINGER_BYTES, LINGER_MS, unreadable } from '../http/request.ts'
import { ByteCollector } from '../lib/byte-collector.ts'
import { DeadlineError, withDeadline } from '../lib/deadline.ts'
import { isOnWorkers } from '../platform/platform.ts'

/**
 * Reads the exact bytes of a Fetch request within the limits. Refuses a body that was already read: all that is left of
 * it is text, decoded and encoded again. Never rejects.
 */
export async function readRequestBody(request: Request, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  try {
    return await readOnce(request, limits)
  } catch (cause) {
    return unreadable(undefined, cause)
  }
}

async function readOnce(request: Request, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  if (request.bodyUsed) return new Refusal('body_unavailable', { detail: CONSUMED })
  if (request.body === null && hasSentBody(request))
    return new Refusal('body_unavailable', { detail: WITHHELD })
  const declared = request.headers.get('content-length')
  return declared !== null && LENGTH.test(declared) && Number(declared) <= SMALL_BYTES
    ? readWhole(request, limits)
    : readCounting(request, limits)
}

/** Servers ignore any other value (`''`, `-5`), so such a value does not limit the body. */
const LENGTH = /^\d+$/

/** Whether the sender declared a body: some hosts pass none on for want of another header. */
function hasSentBody({ headers }: Request): boolean {
  const declared = headers.get('content-length')
  return declared === null ? headers.get('transfer-encoding') !== null : Number(declared) > 0
}

/** A body among all bodies being read. */
class FetchBody implements OpenBody {
  place: Place | undefined
  refusal: Refusal | undefined
  stop: ((refusal: Refusal) => void) | undefined

  giveUp(refusal: Refusal): void {
    this.refusal = refusal
    this.stop?.(refusal)
  }
}

/**
 * Reads a small body by the runtime's fastest method, which does not say how much has arrived: the server itself cuts
 * the body at a declared length. Only a request that no server created can be longer; it is refused once read.
 * perf: note 11.
 */
async function readWhole(request: Request, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  const body = new FetchBody()
  const reading = new Promise<ArrayBuffer | Refusal>((resolve, reject) => {
    // A promise that another request resolves may never continue on Workers: there, the deadline ends the reading.
    if (!isOnWorkers()) body.stop = resolve
    request.arrayBuffer().then(resolve, reject)
  })
  limits.reading?.begin(body)
  try {
    const bytes = await withDeadline(reading, { operation: 'the body', ms: limits.timeoutMs })
    if (bytes instanceof Refusal) return bytes
    return bytes.byteLength > limits.maxBytes ? tooLarge(limits) : new Uint8Array(bytes)
  } catch (cause) {
    if (cause instanceof DeadlineError) return body.refusal ?? timedOut(limits)
    // Rejected before a byte was read: something else holds the stream.
    if (!request.bodyUsed) return new Refusal('body_unavailable', { detail: CONSUMED, cause })
    return new Refusal('body_aborted', { detail: 'the body was cut off', cause })
  } finally {
    limits.reading?.end(body)
  }
}

async function readCounting(request: Request, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  if (request.body === null || request.body === undefined) return new Uint8Array(0)
  if (request.body.locked) return new Refusal('body_unavailable', { detail: CONSUMED })
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const body = new FetchBody()
  let stop: (refusal: Refusal) => void = () => {}
  const givenUp = new Promise<Refusal>(resolve => (stop = resolve))
  // As in `readWhole`: on Workers, only this request's own timer ends the reading.
  if (!isOnWorkers()) body.stop = stop
  const timer = setTimeout(() => {
    body.refusal ??= timedOut(limits)
    stop(body.refusal)
  }, limits.timeoutMs)
  limits.reading?.begin(body)
  const outcome = await Promise.race([collect(reader, body, limits), givenUp])
  clearTimeout(timer)
  limits.reading?.end(body)
  if (outcome instanceof Refusal && outcome.code !== 'body_aborted') leave(reader)
  return outcome
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  body: FetchBody,
  limits: BodyLimits,
): Promise<Uint8Array | Refusal> {
  const collector = new ByteCollector()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (body.refusal !== undefined) return body.refusal
      if (done) return collector.take()
      if (collector.length + value.length > limits.maxBytes) return tooLarge(limits)
      collector.add(value)
      limits.reading?.arrived(body, collector.length)
    }
  } catch (cause) {
    if (body.refusal !== undefined) return body.refusal
    const detail = `the body was cut off after ${collector.length} bytes`
    return new Refusal('body_aborted', { detail, cause })
  }
}

const WITHHELD =
  'the request has a body, and the host passed none on. SvelteKit does so without a Content-Type'
const CONSUMED =
  'something read the body first. Hand the request to the webhook handler before anything calls json() or text() on it'

function tooLarge({ maxBytes }: BodyLimits): Refusal {
  return new Refusal('body_too_large', { detail: `over body.limit, ${maxBytes} bytes` })
}

function timedOut({ timeoutMs }: BodyLimits): Refusal {
  return new Refusal('body_timeout', { detail: `not complete after ${timeoutMs} ms` })
}

/**
 * Gives a body up once its sender has had time to read the reply: hosts on Node close the connection as soon as the body
 * is cancelled, and a sender that still writes would get a reset instead. Reads on as `writeReply` does, for a short time
 * and a few bytes. On Workers at once: nothing there may go on after its request, and the platform writes the reply.
 */
function leave(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  if (isOnWorkers()) {
    cancel(reader)
    return
  }
  const timer = setTimeout(() => cancel(reader), LINGER_MS)
  void discard(reader).then(isOver => {
    if (isOver) clearTimeout(timer)
  })
}

/** Reads on until the body ends or is no longer worth it. Returns whether it has ended. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  try {
    for (let bytes = 0; bytes <= LINGER_BYTES; ) {
      const { done, value } = await reader.read()
      if (done) return true
      bytes += value.length
    }
    return false
  } catch {
    return true
  }
}

/** Never awaited: a broken stream may reject. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {})
}
