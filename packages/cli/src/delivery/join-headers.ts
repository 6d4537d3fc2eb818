import type { CapturedRequest } from './captured-request.ts'

/** Joins header lines as a server presents them: lower-case names, repeated headers joined by a comma. */
export function joinHeaders(headers: CapturedRequest['headers']): Record<string, string> {
  const joined: Record<string, string> = Object.create(null)
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    joined[key] = key in joined ? `${joined[key]}, ${value}` : value
  }
  return joined
}

/** Headers that belong to one connection or that a client sets itself. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Returns the headers for sending the same bytes again. */
export function headersToSend(headers: CapturedRequest['headers']): Record<string, string> {
  const own = headers.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()))
  return { ...joinHeaders(own) }
}
