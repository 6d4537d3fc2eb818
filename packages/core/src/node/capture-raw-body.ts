import type { IncomingMessage } from 'node:http'

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
