import type { EnvelopeFields } from '@ackhook/core'

/** A request as it arrived. */
export interface CapturedRequest {
  readonly method: string
  readonly url: string
  /** Headers in their original order and spelling, repeated ones included. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The exact bytes. */
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** Returns a body's type and id, if they can be read. They are unverified: use them only for display and file names. */
export function eventOf(
  body: Uint8Array,
  fields: Partial<EnvelopeFields> = {},
): { readonly type?: string; readonly id?: string } {
  try {
    const { [fields.type ?? 'type']: type, [fields.id ?? 'id']: id } =
      JSON.parse(new TextDecoder().decode(body)) ?? {}
    return { ...(typeof type === 'string' && { type }), ...(typeof id === 'string' && { id }) }
  } catch {
    return {}
  }
}

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
