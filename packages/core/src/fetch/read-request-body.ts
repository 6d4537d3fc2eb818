import { createByteCollector } from '../byte-collector.ts'
import type { BodyLimits } from '../delivery.ts'
import { Refusal } from '../refusal.ts'

/**
 * The exact bytes of a Fetch request, counted while they are read. A body that something else has read is
 * refused: what can still be had of it was decoded to text and encoded again.
 */
export async function readRequestBody(request: Request, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  if (request.bodyUsed || request.body?.locked) return new Refusal('body_unavailable', { detail: CONSUMED })
  if (request.body === null) return new Uint8Array(0)
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const collector = createByteCollector()
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    cancel(reader)
  }, limits.timeoutMs)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (timedOut)
        return new Refusal('body_timeout', { detail: `${collector.length} bytes in ${limits.timeoutMs} ms` })
      if (done) return collector.take()
      if (collector.length + value.length > limits.maxBytes) {
        cancel(reader)
        return new Refusal('body_too_large', { detail: `over ${limits.maxBytes} bytes` })
      }
      collector.add(value)
    }
  } catch (cause) {
    return new Refusal('body_aborted', {
      detail: `the body broke off after ${collector.length} bytes`,
      cause,
    })
  } finally {
    clearTimeout(timer)
  }
}

const CONSUMED =
  'something read the body of the request first, so its exact bytes are gone. Hand the request to the webhook handler before anything that calls json() or text() on it'

/** Nobody waits for it, and a stream that is broken already may refuse. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {})
}
