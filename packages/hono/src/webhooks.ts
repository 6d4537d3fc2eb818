import type {
  BodyLimits,
  EventSchemas,
  EventsOf,
  ReadBody,
  Receiver,
  ReceiverOptions,
  WebhookReply,
  WebhookRequest,
} from '@ackhook/core'
import {
  findWaitUntil,
  readRequestBody,
  replyTo,
  requireReceiver,
  toReceiver,
  UNREADABLE,
  unreadable,
  wrongFramework,
} from '@ackhook/core/spi'
import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import { type NodeRequest, nodeBody, nodeRequestOf, replyingEarly } from '#node-request'

/** Events of a receiver without schemas. */
type PublishedEvents = EventsOf<Record<never, never>, false>

/** A handler to mount and a receiver to register handlers on. */
export type HonoWebhooks<Events = PublishedEvents, C extends Context = Context> = ((
  c: C,
) => Promise<Response>) &
  Receiver<Events, C>

/**
 * Webhooks for Hono 4 on Node, Bun, Deno and Workers. Hono's context is the context of `secret` and `namespace`, so a
 * secret can come from `c.env`. On Workers, Netlify and Vercel, the work after the reply is passed to the host's
 * `waitUntil`. A host without one that freezes after the reply needs `acknowledge: 'after-processing'`. Throws
 * `ConfigurationError` for a wrong option.
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
  Strict extends boolean = boolean,
>(options: ReceiverOptions<Schemas, C, Strict>): HonoWebhooks<EventsOf<Schemas, Strict>, C> {
  return webhooksOf(toReceiver(options))
}

/**
 * Like `webhooks`, for a shared receiver.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'] })
 * app.post('/webhooks', webhooksOf(receiver))
 */
export function webhooksOf<Events, C extends Context = Context>(
  receiver: Receiver<Events, C>,
): HonoWebhooks<Events, C> {
  requireReceiver(receiver, 'webhooksOf')
  const handler = async (c: C): Promise<Response> => {
    if (c?.req?.raw === undefined) throw wrongFramework('webhooks of @ackhook/hono', 'a Hono context', c)
    return toResponse(c, await replyTo(receiver, neutralOf(c)))
  }
  return Object.assign(handler, receiver)
}

/** Never throws: the receiver refuses a request that cannot be read. */
function neutralOf<C extends Context>(c: C): WebhookRequest<C> {
  try {
    return fromContext(c)
  } catch {
    return UNREADABLE
  }
}

/**
 * Reads bytes and headers from Node's own request if there is one. Converting it to a Fetch request and reading that
 * takes four times as long as the rest of a delivery.
 */
function fromContext<C extends Context>(c: C): WebhookRequest<C> {
  const incoming = nodeRequestOf(c)
  const method = c.req.method
  if (incoming !== undefined) {
    return {
      method,
      headers: incoming.headers,
      body: limits => safely(() => readBody(c, limits, incoming)),
      context: c,
      waitUntil: findWaitUntil(undefined, undefined),
    }
  }
  return {
    method,
    headers: c.req.raw.headers,
    body: limits => safely(() => readBody(c, limits)),
    context: c,
    // Hono stores a Netlify function's context in the environment.
    waitUntil: findWaitUntil(c.env, executionOf(c)) ?? findWaitUntil(c.env?.context, undefined),
  }
}

function safely(read: () => ReturnType<ReadBody>): ReturnType<ReadBody> {
  try {
    return read()
  } catch (cause) {
    return unreadable(undefined, cause)
  }
}

/** Uses only a cached `arrayBuffer`, which is exact: decoded text has lost its byte order mark and invalid bytes. */
function readBody(c: Context, limits: BodyLimits, incoming?: NodeRequest): ReturnType<ReadBody> {
  const cached = c.req.bodyCache.arrayBuffer
  if (cached !== undefined) return Promise.resolve(cached).then(bytes => new Uint8Array(bytes))
  return incoming === undefined ? readRequestBody(c.req.raw, limits) : nodeBody(c, limits, incoming)
}

/**
 * Creates the response, with headers that middleware has set. The reply's own headers win, and its body has a length. A
 * reply before the end of the request's body stays open for a moment: Hono's server for Node would close at once, and
 * a sender that is still writing could not read it.
 */
function toResponse(c: Context, { status, headers, body }: WebhookReply): Response {
  // Clears earlier headers, which would win in Hono if middleware has read `c.res`.
  for (const name in headers) c.header(name, undefined)
  c.header('transfer-encoding', undefined)
  const lingering = replyingEarly(c, body)
  if (lingering === undefined) return c.newResponse(body, status as StatusCode, headers)
  return c.newResponse(lingering, status as StatusCode, { ...headers, connection: 'close' })
}

/** Returns the Workers execution context, if there is one. */
function executionOf(c: Context): unknown {
  try {
    return c.executionCtx
  } catch {
    // The getter throws on platforms without one.
    return undefined
  }
}
