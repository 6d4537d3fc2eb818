import type { FastifyReply } from 'fastify'

/** Headers that describe the body or the connection, which the writer of the reply sets. */
const OF_THE_WRITER = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Copies headers that hooks set on `reply` to Node's response, which merges them with the written reply's own. Other
 * headers of the response stay unchanged.
 */
export function keepOwnHeaders(reply: FastifyReply): void {
  const headers = reply.getHeaders()
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || OF_THE_WRITER.has(name) || reply.raw.getHeader(name) === value) continue
    try {
      reply.raw.setHeader(name, value)
    } catch {
      // Skips values that Node refuses: the sender must still get a reply.
    }
  }
}
