import { replyFor } from '../http/reply.ts'
import type { WebhookReply, WebhookRequest } from '../http/request.ts'

/** Answers a request by calling `write` once: at once where nothing has to be awaited. Throws only what `write` throws. */
export type Respond<Context> = (
  request: WebhookRequest<Context>,
  write: (reply: WebhookReply) => void,
) => void

/** On the function and not on the receiver: where somebody wraps `handle`, the wrapped one is called. */
const RESPOND: unique symbol = Symbol('ackhook.respond')

interface Handle<Context> {
  (request: WebhookRequest<Context>): Promise<WebhookReply>
  readonly [RESPOND]?: Respond<Context>
}

/** The member `handle` of a receiver that answers so. */
export function handleOf<Context>(respond: Respond<Context>): Handle<Context> {
  const handle = (request: WebhookRequest<Context>) =>
    new Promise<WebhookReply>(resolve => respond(request, resolve))
  return Object.assign(handle, { [RESPOND]: respond })
}

/**
 * For adapters: hands the reply of `receiver.handle(request)` to `write`, without a promise in between where nothing
 * has to be awaited. Each promise between the last byte of a request and its reply costs a trip through a queue.
 * `write` is called once, maybe before this returns, and must not throw.
 */
export function replyTo<Context>(
  receiver: { readonly handle: Handle<Context> },
  request: WebhookRequest<Context>,
  write: (reply: WebhookReply) => void,
): void {
  const respond = receiver.handle[RESPOND]
  if (respond !== undefined) respond(request, write)
  // Ours never rejects; what somebody wrapped around it may, and the sender waits for an answer.
  else void receiver.handle(request).then(write, () => write(replyFor('internal_error')))
}
