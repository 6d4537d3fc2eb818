import type { IncomingMessage } from 'node:http'
import type {
  EventSchemas,
  KnownEvents,
  ReadBody,
  Receiver,
  ReceiverOptions,
  WebhookRequest,
} from '@ackhook/core'
import { readRawBody } from '@ackhook/core/node'
import { readRequestBody, replyTo, toReceiver } from '@ackhook/core/spi'
import type { Context } from 'hono'

/** A handler to mount and a receiver to register handlers on. */
export type HonoWebhooks<Events, C extends Context = Context> = ((c: C) => Promise<Response>) &
  Receiver<Events, C>

/**
 * Webhooks for Hono 4 on Node, Bun, Deno and Workers: options, or a receiver to share. Hono's context is the
 * context of `secret` and `namespace`, so that a secret can come from `c.env`. Where there is an execution
 * context, the work after the reply is given to its `waitUntil`. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const hooks = webhooks({ secret: c => c.env.SIGNING_SECRET })
 * hooks.on('conversation.resolved', async event => {
 *   await crm.close(event.data.conversation_id)
 * })
 * app.post('/webhooks', hooks)
 */
export function webhooks<
  const Schemas extends EventSchemas = Record<never, never>,
  C extends Context = Context,
>(
  optionsOrReceiver: ReceiverOptions<Schemas, C> | Receiver<KnownEvents<Schemas>, C>,
): HonoWebhooks<KnownEvents<Schemas>, C> {
  const receiver = toReceiver(optionsOrReceiver)
  const handler = (c: C): Promise<Response> => {
    const incoming = incomingOf(c)
    const request: WebhookRequest<C> = {
      method: c.req.method,
      headers: incoming?.headers ?? c.req.raw.headers,
      body: (limits, done) => readBody(c, limits, done),
      context: c,
      // On Node the process stays by itself, and the getter of the execution context throws.
      waitUntil: incoming === undefined ? work => keepAlive(c, work) : undefined,
    }
    return new Promise(resolve =>
      replyTo(receiver, request, ({ status, headers, body }) =>
        resolve(new Response(body, { status, headers })),
      ),
    )
  }
  return Object.assign(handler, receiver)
}

/** Of what Hono caches only an `arrayBuffer` is exact: text lost its byte order mark and its invalid bytes. */
function readBody(c: Context, ...[limits, done]: Parameters<ReadBody>): ReturnType<ReadBody> {
  const cached = c.req.bodyCache.arrayBuffer
  if (cached !== undefined) return Promise.resolve(cached).then(bytes => new Uint8Array(bytes))
  const incoming = incomingOf(c)
  return incoming === undefined || isTaken(incoming)
    ? readRequestBody(c.req.raw, limits)
    : readRawBody(incoming, limits, done)
}

/**
 * Whether something reads the stream already: a middleware that only touched `c.req.raw.body` made a Fetch stream
 * of it, which pauses this one as soon as its own buffer is full, and a second reader would wait for ever.
 */
function isTaken(incoming: IncomingMessage): boolean {
  return (
    incoming.readableDidRead || incoming.listenerCount('data') > 0 || incoming.listenerCount('readable') > 0
  )
}

/**
 * The request of Node behind that of Hono, where there is one. Its bytes and headers are those of the wire; to make
 * a Fetch request of them and read that takes four times as long as all the rest of a delivery.
 */
function incomingOf(c: Context): IncomingMessage | undefined {
  const incoming: unknown = c.env?.incoming
  return isIncoming(incoming) ? incoming : undefined
}

/** HTTP/1 of Node. Other hosts put other things there, or nothing. */
function isIncoming(value: unknown): value is IncomingMessage {
  return (
    typeof value === 'object' && value !== null && 'readableDidRead' in value && 'httpVersionMajor' in value
  )
}

function keepAlive(c: Context, work: Promise<unknown>): void {
  let execution: Context['executionCtx'] | undefined
  try {
    // The getter throws where the platform has none, and keeps the process by itself.
    execution = c.executionCtx
  } catch {}
  execution?.waitUntil(work)
}
