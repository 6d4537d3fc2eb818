import type { IncomingMessage } from 'node:http'
import { Refusal } from '../errors/refusal.ts'
import type { BodyLimits } from '../http/request.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { readBody } from './read-body.ts'

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
export function readRawBody(request: MaybeRead, limits: BodyLimits): MaybePromise<Uint8Array | Refusal> {
  const kept = exactBytes(request.rawBody) ?? exactBytes(request.body)
  if (kept !== undefined) return kept
  if (request.readableDidRead || request.readableEnded)
    return new Refusal('body_unavailable', { detail: CONSUMED })
  if (typeof request.readableEncoding === 'string')
    return new Refusal('body_unavailable', { detail: DECODED })
  if (request.destroyed)
    return new Refusal('body_aborted', { detail: 'the connection closed before the body was read' })
  return readBody(request, limits)
}

const CONSUMED =
  'a body parser, usually app.use(express.json()), read the body first, so its exact bytes are gone. Move the line that mounts the webhook route above it, or keep the bytes with express.json({ verify: captureRawBody })'
const DECODED =
  'something called setEncoding() on the request, so its exact bytes are gone. Move the line that mounts the webhook route above it'

function exactBytes(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}

/**
 * Keeps the exact bytes of a body that a parser is about to consume, for routes that cannot be mounted before
 * it. It keeps the bytes of every request it sees.
 *
 * @example
 * app.use(express.json({ verify: captureRawBody }))
 */
export function captureRawBody(request: IncomingMessage, _response: unknown, bytes: Uint8Array): void {
  Object.assign(request, { rawBody: bytes })
}
