// No import of `node:` is left at run time: the Hono adapter brings this file to Workers as well.
import type { IncomingMessage } from 'node:http'
import { collectBody } from '#collect-body'
import { platform } from '#platform'
import { ConfigurationError } from '../errors/errors.ts'
import { kindOf } from '../errors/kind-of.ts'
import { Refusal } from '../errors/refusal.ts'
import type { BodyLimits, ReadBody, WebhookRequest } from '../http/request.ts'
import type { Timeouts } from '../platform/platform.ts'
import { BodyGuard, DECODED } from './body-guard.ts'

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

/**
 * The exact bytes of a Node request: those that were kept exactly (`express.raw`, `captureRawBody`, Google Cloud
 * Functions), otherwise the stream's. A stream that something else has read has no bytes left: waiting for its end
 * would hang until the sender gives up, so it is refused at once, as is one that gives text and not bytes.
 */
export function readRawBody(request: IncomingMessage, limits: BodyLimits): ReturnType<ReadBody> {
  for (const name of ['rawBody', 'body'] as const) {
    const kept = readKept(request, name)
    if (kept !== undefined && isBytes(kept)) return kept
  }
  if (request.readableDidRead || request.readableEnded)
    return new Refusal('body_unavailable', { detail: CONSUMED })
  if (typeof request.readableEncoding === 'string')
    return new Refusal('body_unavailable', { detail: DECODED })
  if (request.destroyed)
    return new Refusal('body_aborted', { detail: 'the connection closed before the body was read' })
  const options = { limit: limits.maxBytes, length: declaredLength(request) }
  return collectBody(new BodyGuard(request, limits, timeoutsOf(limits.timeoutMs)), options)
}

/** Getters of a host may throw: that of Vercel parses the body, and fails for any that is not JSON. */
function readKept(request: object, name: 'rawBody' | 'body'): unknown {
  try {
    // A type that extends IncomingMessage would clash with @koa/bodyparser, which declares both on it.
    return (request as Partial<Record<typeof name, unknown>>)[name]
  } catch {
    return undefined
  }
}

/** Bytes of another realm are bytes too: test runners such as Jest have a `Uint8Array` of their own. */
function isBytes(value: unknown): value is Uint8Array {
  return kindOf(value) === 'Uint8Array'
}

const byLength = new Map<number, Timeouts>()

/** Shared by the bodies of all receivers with the same limit. */
function timeoutsOf(ms: number): Timeouts {
  const timeouts = byLength.get(ms) ?? platform.createTimeouts(ms)
  byLength.set(ms, timeouts)
  return timeouts
}

/** A stream that a hook put in the place of the request has no headers, and may have another length. */
function declaredLength({ headers }: Partial<IncomingMessage>): number | null {
  const declared = headers?.['content-length']
  return declared !== undefined && /^\d+$/.test(declared) ? Number(declared) : null
}

const CONSUMED =
  'something read the body first, usually app.use(express.json()) or a hook. Move the line that mounts the webhook route above it, or keep the bytes with captureRawBody'

/**
 * Keeps the exact bytes of a body that a parser is about to consume, for routes that cannot be mounted before
 * it. It keeps the bytes of every request it sees.
 *
 * @example
 * app.use(express.json({ limit: '1mb', verify: captureRawBody }))
 */
export function captureRawBody(request: IncomingMessage, _response: unknown, bytes: Uint8Array): void {
  // Registered as middleware it would get `next` here, and every request would hang.
  if (!isBytes(bytes))
    throw new ConfigurationError(
      'captureRawBody',
      'is for a parser: express.json({ verify: captureRawBody })',
    )
  Object.assign(request, { rawBody: bytes })
}
