import type { IncomingMessage } from 'node:http'
import { createByteCollector } from '../byte-collector.ts'
import type { BodyLimits } from '../delivery.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { Refusal } from '../refusal.ts'

/** What frameworks and hosts leave on a request when they read its body themselves. */
interface MaybeRead extends IncomingMessage {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/**
 * The exact bytes of a Node request: those that somebody kept exactly (`express.raw`, `captureRawBody`, Google
 * Cloud Functions), otherwise the stream's. A stream that something else has read has no bytes left: waiting
 * for its end would hang until the sender gives up, so that is refused at once.
 */
export function readRawBody(request: MaybeRead, limits: BodyLimits): MaybePromise<Uint8Array | Refusal> {
  const kept = exactBytes(request.rawBody) ?? exactBytes(request.body)
  if (kept !== undefined) return kept
  if (request.readableDidRead || request.readableEnded)
    return new Refusal('body_unavailable', { detail: CONSUMED })
  if (request.destroyed)
    return new Refusal('body_aborted', { detail: 'the connection closed before the body was read' })
  return readStream(request, limits)
}

const CONSUMED =
  'a body parser, usually app.use(express.json()), read the body first, so its exact bytes are gone. Move the line that mounts the webhook route above it, or keep the bytes with express.json({ verify: captureRawBody })'

function exactBytes(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}

/** Counts what is read, whatever `Content-Length` says. Listeners and not `for await`, which costs 7 to 20 %. */
function readStream(request: IncomingMessage, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  return new Promise(resolve => {
    const collector = createByteCollector()
    let settled = false
    const timer = setTimeout(
      () =>
        settle(
          new Refusal('body_timeout', { detail: `${collector.length} bytes in ${limits.timeoutMs} ms` }),
        ),
      limits.timeoutMs,
    )

    // The listeners stay, since taking four off costs more than putting them on; and an upload that breaks off
    // later must not become an uncaught 'error' event.
    function settle(result: Uint8Array | Refusal): void {
      if (settled) return
      settled = true
      clearTimeout(timer)
      resolve(result)
    }
    function onData(chunk: Uint8Array): void {
      if (settled) return
      if (collector.length + chunk.length > limits.maxBytes) {
        settle(new Refusal('body_too_large', { detail: `over ${limits.maxBytes} bytes` }))
        request.pause()
      } else {
        collector.add(chunk)
      }
    }
    function onEnd(): void {
      settle(collector.take())
    }
    function onAbort(): void {
      if (!settled)
        settle(
          new Refusal('body_aborted', { detail: `the connection closed after ${collector.length} bytes` }),
        )
    }

    // Something may have made a Fetch stream of the request and never read it: that one pauses this one when its
    // own buffer is full, and the rest of the body would never come.
    function onPause(): void {
      if (!settled) request.resume()
    }

    request.on('data', onData).on('pause', onPause).on('end', onEnd).on('error', onAbort).on('close', onAbort)
  })
}
