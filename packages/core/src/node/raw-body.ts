// No import of `node:` that is left at run time: the Hono adapter brings this file to Workers as well.
import type { IncomingMessage } from 'node:http'
import { platform } from '#platform'
import type { Alarms } from '../alarms.ts'
import { createByteCollector } from '../byte-collector.ts'
import type { BodyLimits } from '../delivery.ts'
import { Refusal } from '../refusal.ts'

/** What frameworks and hosts leave on a request when they read its body themselves. */
interface MaybeRead extends IncomingMessage {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/**
 * The exact bytes of a Node request: those that somebody kept exactly (`express.raw`, `captureRawBody`, Google
 * Cloud Functions), otherwise the stream's, handed to `done` later. A stream that something else has read has no
 * bytes left: waiting for its end would hang until the sender gives up, so that is refused at once, as is one that
 * gives text and not bytes.
 */
export function readRawBody(
  request: MaybeRead,
  limits: BodyLimits,
  done: (body: Uint8Array | Refusal) => void,
): Uint8Array | Refusal | undefined {
  const kept = exactBytes(request.rawBody) ?? exactBytes(request.body)
  if (kept !== undefined) return kept
  if (request.readableDidRead || request.readableEnded)
    return new Refusal('body_unavailable', { detail: CONSUMED })
  if (typeof request.readableEncoding === 'string')
    return new Refusal('body_unavailable', { detail: DECODED })
  if (request.destroyed)
    return new Refusal('body_aborted', { detail: 'the connection closed before the body was read' })
  readStream(request, limits, done)
  return undefined
}

const CONSUMED =
  'a body parser, usually app.use(express.json()), read the body first, so its exact bytes are gone. Move the line that mounts the webhook route above it, or keep the bytes with express.json({ verify: captureRawBody })'
const DECODED =
  'something called setEncoding() on the request, so its exact bytes are gone. Move the line that mounts the webhook route above it'

function exactBytes(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}

/** By how long they take to ring. */
const alarmsOf = new Map<number, Alarms>()

function alarmsFor({ timeoutMs }: BodyLimits): Alarms {
  const known = alarmsOf.get(timeoutMs)
  if (known !== undefined) return known
  const alarms = platform.createAlarms(timeoutMs)
  alarmsOf.set(timeoutMs, alarms)
  return alarms
}

/**
 * Counts what is read, whatever `Content-Length` says. Listeners and not `for await`, which costs 7 to 20 %, and a
 * call and not a promise at the end of them: the reply is written in the turn in which the last byte came.
 */
function readStream(
  request: IncomingMessage,
  limits: BodyLimits,
  done: (body: Uint8Array | Refusal) => void,
): void {
  const collector = createByteCollector()
  const handOver = platform.keepContext(done)
  let settled = false
  const alarm = alarmsFor(limits).set(() =>
    settle(new Refusal('body_timeout', { detail: `${collector.length} bytes in ${limits.timeoutMs} ms` })),
  )

  // The listeners stay, since taking four off costs more than putting them on; and an upload that breaks off
  // later must not become an uncaught 'error' event.
  function settle(result: Uint8Array | Refusal): void {
    if (settled) return
    settled = true
    answer(result)
  }
  function answer(result: Uint8Array | Refusal): void {
    alarm.cancel()
    handOver(result)
  }
  function onData(chunk: Uint8Array): void {
    if (settled) return
    if (collector.length + chunk.length > limits.maxBytes) {
      // Paused before the reply is written: that reads on for a while, so that the sender comes to see it.
      settled = true
      request.pause()
      answer(new Refusal('body_too_large', { detail: `over ${limits.maxBytes} bytes` }))
    } else {
      collector.add(chunk)
    }
  }
  function onEnd(): void {
    settle(collector.take())
  }
  function onAbort(): void {
    if (!settled)
      settle(new Refusal('body_aborted', { detail: `the connection closed after ${collector.length} bytes` }))
  }

  // Something may have made a Fetch stream of the request and never read it: that one pauses this one when its
  // own buffer is full, and the rest of the body would never come.
  function onPause(): void {
    if (!settled) request.resume()
  }
  // A stream that somebody watches for 'readable' does not flow, and gives its bytes only to who asks for them.
  function onReadable(): void {
    while (!settled && request.read() !== null);
  }

  // Asks for the body now and not in the next turn. Otherwise Node holds what came with the head of the request back
  // until then, and after the reply it takes the request for one that nobody read: 3 µs of 30.
  request.read(0)
  request.on('data', onData).on('pause', onPause).on('end', onEnd).on('error', onAbort).on('close', onAbort)
  if (request.listenerCount('readable') > 0) request.on('readable', onReadable)
  // It may have been paused before, to wait for something asynchronous.
  else request.resume()
}
