// Has no `node:` import at run time: the Hono adapter uses this file on Workers too.
import type { IncomingMessage } from 'node:http'
import { collectBody } from '#collect-body'
import { platform } from '#platform'
import { ConfigurationError } from '../errors/errors.ts'
import { kindOf } from '../errors/kind-of.ts'
import { Refusal } from '../errors/refusal.ts'
import {
  type BodyLimits,
  type ReadBody,
  UNREADABLE,
  unreadable,
  type WebhookRequest,
} from '../http/request.ts'
import type { Timeouts } from '../platform/platform.ts'
import { BodyGuard, DECODED } from './body-guard.ts'

/**
 * Converts a Node request for the receiver. `stream` is the source of its bytes, if a framework wrapped the request. Never
 * throws: the receiver refuses a request that cannot be read.
 */
export function fromNodeRequest<Context>(
  request: IncomingMessage,
  context: Context,
  stream: IncomingMessage = request,
): WebhookRequest<Context> {
  try {
    return {
      method: request.method ?? '',
      headers: request.headers,
      body: limits => readRawBody(stream, limits),
      context,
    }
  } catch {
    return UNREADABLE
  }
}

/**
 * Reads the exact bytes of a Node request: the kept ones (`express.raw`, `captureRawBody`, Google Cloud Functions),
 * otherwise the stream's. A stream that was already read is refused at once, because waiting for its end would hang
 * until the sender gives up. A stream of text is refused too. Never throws.
 */
export function readRawBody(request: IncomingMessage, limits: BodyLimits): ReturnType<ReadBody> {
  try {
    return readOnce(request, limits)
  } catch (cause) {
    return unreadable(undefined, cause)
  }
}

function readOnce(request: IncomingMessage, limits: BodyLimits): ReturnType<ReadBody> {
  const kept = keptBytes(request, 'rawBody') ?? keptBytes(request, 'body')
  if (kept !== undefined) return kept
  if (request.readableDidRead || request.readableEnded)
    return new Refusal('body_unavailable', { detail: CONSUMED })
  if (typeof request.readableEncoding === 'string')
    return new Refusal('body_unavailable', { detail: DECODED })
  if (request.destroyed)
    return new Refusal('body_aborted', { detail: 'the connection closed before the body was read' })
  const options = { limit: limits.maxBytes, length: declaredLength(request) }
  return collectBody(new BodyGuard(request, limits, timeoutsOf(limits.timeoutMs)), options)
}

/**
 * Returns the bytes kept on the request, if there are any. A host's getter may throw: Vercel's parses the body, and fails
 * for any that is not JSON.
 */
function keptBytes(request: object, name: 'rawBody' | 'body'): Uint8Array | undefined {
  try {
    // A type that extends IncomingMessage would clash with @koa/bodyparser, which declares both properties on it.
    const kept = (request as Partial<Record<typeof name, unknown>>)[name]
    return kept !== undefined && isBytes(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a value is a `Uint8Array` of any realm: test runners such as Jest have their own. */
function isBytes(value: unknown): value is Uint8Array {
  return kindOf(value) === 'Uint8Array'
}

const byLength = new Map<number, Timeouts>()

/** Returns timeouts shared by the bodies of all receivers with the same limit. */
function timeoutsOf(ms: number): Timeouts {
  const timeouts = byLength.get(ms) ?? platform.createTimeouts(ms)
  byLength.set(ms, timeouts)
  return timeouts
}

/**
 * Returns the declared length, if there is one. A stream that a hook substituted for the request has no headers, and
 * may have another length.
 */
function declaredLength({ headers }: Partial<IncomingMessage>): number | null {
  const declared = headers?.['content-length']
  return declared !== undefined && LENGTH.test(declared) ? Number(declared) : null
}

const LENGTH = /^\d+$/

const CONSUMED =
  'something read the body first, usually app.use(express.json()) or a hook. Move the line that mounts the webhook route above it, or keep the bytes with captureRawBody. In a host that owns this line, such as Node-RED, the page "More frameworks" names its setting'

/**
 * Keeps the exact bytes of a body that a parser is about to consume, for routes that cannot be mounted before the
 * parser. Keeps the bytes of every request that the parser reads.
 *
 * @example
 * app.use(express.json({ limit: '1mb', verify: captureRawBody }))
 */
export function captureRawBody(request: IncomingMessage, _response: unknown, bytes: Uint8Array): void {
  // Refuses use as middleware: it would get `next` here, and every request would hang.
  if (!isBytes(bytes))
    throw new ConfigurationError(
      'captureRawBody',
      'is for a parser: express.json({ verify: captureRawBody })',
    )
  Object.assign(request, { rawBody: bytes })
}
