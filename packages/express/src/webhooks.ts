import type { EventSchemas, EventsOf, Receiver, ReceiverOptions, WebhookRequest } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { requireReceiver, toReceiver, wrongFramework } from '@ackhook/core/spi'
import type { NextFunction, Request, Response } from 'express'
import { withSharedClasses } from './with-shared-classes.ts'

/** Events of a receiver without schemas. */
type PublishedEvents = EventsOf<Record<never, never>, false>

/**
 * A request handler to mount and a receiver to register handlers on. Called from a handler of your own, its promise
 * resolves when the reply is written or the connection is gone, and never rejects. It never calls `next`.
 */
export type ExpressWebhooks<Events = PublishedEvents> = Receiver<Events, Request> &
  ((request: Request, response: Response, next?: NextFunction) => Promise<void>)

/**
 * Webhooks for Express 4 and 5. Mount it before any body parser. The request is the context of `secret` and `namespace`.
 * Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const hooks = webhooks({ secret: process.env['SIGNING_SECRET'] })
 * hooks.on('conversation.resolved', async event => {
 *   await crm.close(event.data.conversation_id)
 * })
 * app.post('/webhooks', hooks)
 */
export function webhooks<
  const Schemas extends EventSchemas = Record<never, never>,
  Strict extends boolean = boolean,
>(options: ReceiverOptions<Schemas, Request, Strict>): ExpressWebhooks<EventsOf<Schemas, Strict>> {
  return webhooksOf(toReceiver(options))
}

/**
 * Like `webhooks`, for a shared receiver.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'] })
 * app.post('/webhooks', webhooksOf(receiver))
 */
export function webhooksOf<Events>(receiver: Receiver<Events, Request>): ExpressWebhooks<Events> {
  requireReceiver(receiver, 'webhooksOf')
  const respond = toNodeHandler(receiver)
  const listener = withSharedClasses((request: Request, response: Response) => {
    if (response?.writeHead === undefined)
      throw wrongFramework('webhooks of @ackhook/express', "Express's request and response", request)
    return respond(request, response)
  })
  // Connect calls the `handle` method of anything that it mounts, with the response.
  const handle = (request: WebhookRequest<Request>, response?: Response) =>
    response === undefined ? receiver.handle(request) : listener(request as unknown as Request, response)
  return Object.assign(listener, receiver, { handle: handle as typeof receiver.handle })
}
