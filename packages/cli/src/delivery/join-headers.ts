import type { Delivery } from './delivery-file.ts'

/** Header lines as a server hands them on: names in lower case, several lines of one name joined by a comma. */
export function joinHeaders(headers: Delivery['headers']): Record<string, string> {
  const joined: Record<string, string> = Object.create(null)
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    joined[key] = key in joined ? `${joined[key]}, ${value}` : value
  }
  return joined
}

/** Belong to one connection, or are made anew by whoever sends the bytes again. */
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

/** The headers to send the same bytes with once more. */
export function headersToSend(headers: Delivery['headers']): Record<string, string> {
  const own = headers.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()))
  return { ...joinHeaders(own) }
}
