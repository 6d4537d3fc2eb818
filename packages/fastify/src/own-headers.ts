import type { FastifyReply } from 'fastify'

/** Headers that describe a body or a connection, and so belong to whoever writes the reply. */
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
 * Hands the headers that hooks gave to `reply` to Node's response, which merges them with those of the reply that is
 * written to it. Those it has from elsewhere stay as they are.
 */
export function keepOwnHeaders(reply: FastifyReply): void {
  const headers = reply.getHeaders()
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || OF_THE_WRITER.has(name) || reply.raw.getHeader(name) === value) continue
    try {
      reply.raw.setHeader(name, value)
    } catch {
      // A value that Node refuses must not cost the sender its reply.
    }
  }
}
