import type { HandlerContext, WebhookEvent } from '@ackhook/core'

/** What a receiver hands to a handler, for a handler that is called directly. */
export function contextOf(
  signal: AbortSignal = new AbortController().signal,
  namespace = '',
): HandlerContext {
  return { attempt: 1, namespace, receivedAt: Date.now(), rawBody: new Uint8Array(), signal }
}

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const insertOf = (event: string): string => `INSERT INTO effects (event) VALUES (${quoted(event)})`

/** An event of which only the id matters. */
export const eventOf = (id: string): WebhookEvent => ({ id }) as WebhookEvent
