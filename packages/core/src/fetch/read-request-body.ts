import { Refusal } from '../errors/refusal.ts'
import { type OpenBody, type Place, SMALL_BYTES } from '../http/reading-bodies.ts'
import { type BodyLimits, unreadable } from '../http/request.ts'
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
  const declared = request.headers.get('content-length')
  return declared !== null && LENGTH.test(declared) && Number(declared) <= SMALL_BYTES
    ? readWhole(request, limits)
    : readCounting(request, limits)
}

/** Servers ignore any other value (`''`, `-5`), so such a value does not limit the body. */
const LENGTH = /^\d+$/

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
  const collector = new ByteCollector()
  const body = new FetchBody()
  body.stop = () => cancel(reader)
  const timer = setTimeout(() => body.giveUp(timedOut(limits)), limits.timeoutMs)
  limits.reading?.begin(body)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (body.refusal !== undefined) return body.refusal
      if (done) return collector.take()
      if (collector.length + value.length > limits.maxBytes) {
        cancel(reader)
        return tooLarge(limits)
      }
      collector.add(value)
      limits.reading?.arrived(body, collector.length)
    }
  } catch (cause) {
    if (body.refusal !== undefined) return body.refusal
    const detail = `the body was cut off after ${collector.length} bytes`
    return new Refusal('body_aborted', { detail, cause })
  } finally {
    clearTimeout(timer)
    limits.reading?.end(body)
  }
}

const CONSUMED =
  'something read the body first. Hand the request to the webhook handler before anything calls json() or text() on it'

function tooLarge({ maxBytes }: BodyLimits): Refusal {
  return new Refusal('body_too_large', { detail: `over body.limit, ${maxBytes} bytes` })
}

function timedOut({ timeoutMs }: BodyLimits): Refusal {
  return new Refusal('body_timeout', { detail: `not complete after ${timeoutMs} ms` })
}

/** Never awaited: a broken stream may reject. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {})
}
