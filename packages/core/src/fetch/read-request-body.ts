import { Refusal } from '../errors/refusal.ts'
import { type BodyLimits, unreadable } from '../http/request.ts'
import { ByteCollector } from '../lib/byte-collector.ts'
import { DeadlineError, withDeadline } from '../lib/deadline.ts'

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
  return declared !== null && LENGTH.test(declared) && Number(declared) <= limits.maxBytes
    ? readWhole(request, limits, Number(declared))
    : readCounting(request, limits)
}

/** Servers ignore any other value (`''`, `-5`), so such a value does not limit the body. */
const LENGTH = /^\d+$/

/**
 * Reads by the runtime's fastest method: the server itself cuts the body at a declared length. Only a request that no
 * server created can be longer; it is refused once read. perf: note 11.
 */
async function readWhole(
  request: Request,
  limits: BodyLimits,
  declared: number,
): Promise<Uint8Array | Refusal> {
  // The runtime does not say how much has arrived.
  if (limits.reading?.add(declared) === false) return limits.reading.refusal()
  try {
    const bytes = await withDeadline(request.arrayBuffer(), { operation: 'the body', ms: limits.timeoutMs })
    return bytes.byteLength > limits.maxBytes ? tooLarge(limits) : new Uint8Array(bytes)
  } catch (cause) {
    if (cause instanceof DeadlineError) return timedOut(limits)
    // Rejected before a byte was read: something else holds the stream.
    if (!request.bodyUsed) return new Refusal('body_unavailable', { detail: CONSUMED, cause })
    return new Refusal('body_aborted', { detail: 'the body was cut off', cause })
  } finally {
    limits.reading?.remove(declared)
  }
}

async function readCounting(request: Request, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  if (request.body === null || request.body === undefined) return new Uint8Array(0)
  if (request.body.locked) return new Refusal('body_unavailable', { detail: CONSUMED })
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const collector = new ByteCollector()
  let counted = 0
  let late = false
  const timer = setTimeout(() => {
    late = true
    cancel(reader)
  }, limits.timeoutMs)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (late) return timedOut(limits)
      if (done) return collector.take()
      if (collector.length + value.length > limits.maxBytes) {
        cancel(reader)
        return tooLarge(limits)
      }
      if (limits.reading?.add(value.length) === false) {
        cancel(reader)
        return limits.reading.refusal()
      }
      counted += value.length
      collector.add(value)
    }
  } catch (cause) {
    if (late) return timedOut(limits)
    const detail = `the body was cut off after ${collector.length} bytes`
    return new Refusal('body_aborted', { detail, cause })
  } finally {
    clearTimeout(timer)
    limits.reading?.remove(counted)
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
