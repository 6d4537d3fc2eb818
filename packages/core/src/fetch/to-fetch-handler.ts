import { ConfigurationError } from '../errors/errors.ts'
import { UNREADABLE, type WebhookRequest } from '../http/request.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { requireReceiver, wrongFramework } from '../receiver/to-receiver.ts'
import { findWaitUntil } from './find-wait-until.ts'
import { readRequestBody } from './read-request-body.ts'

/** Context passed to `secret` and `namespace`: the request and the platform's second argument. */
export interface FetchContext<Env = unknown> {
  readonly request: Request
  /** The second argument: `env` on Workers, `info` on Deno, `server` on Bun, route parameters on Next.js. */
  readonly env: Env
}

/**
 * Fits `export default { fetch }`, `Deno.serve`, `Bun.serve`, a Next.js `POST` and a Netlify function. SvelteKit, Astro and
 * Remix pass an object that holds the request: `event => handle(event.request, event)`.
 */
export type FetchWebhookHandler<Env = unknown> = (
  request: Request,
  env?: Env,
  execution?: unknown,
) => Promise<Response>

/**
 * Wraps a receiver as a function from `Request` to `Response`. If the host passes `waitUntil` with the request, as
 * Workers, Netlify and the Cloudflare adapters of SvelteKit and Astro do, it receives the work that follows the reply.
 * A host that freezes after the reply and passes no `waitUntil` needs `acknowledge: 'after-processing'`.
 *
 * @example
 * export const POST = toFetchHandler(receiver) // app/webhooks/route.ts of Next.js
 */
export function toFetchHandler<Env = unknown>(
  receiver: Pick<Receiver<never, FetchContext<Env>>, 'handle'>,
): FetchWebhookHandler<Env> {
  requireReceiver(receiver, 'toFetchHandler')
  return async (request, env, execution) => {
    const neutral = fromFetchRequest(request, env as Env, execution)
    const { status, headers, body } = await receiver.handle(neutral)
    return new Response(body, { status, headers })
  }
}

function fromFetchRequest<Env>(
  request: Request,
  env: Env,
  execution: unknown,
): WebhookRequest<FetchContext<Env>> {
  try {
    if (typeof request?.headers?.get !== 'function')
      throw wrongFramework('a Fetch handler', 'a Fetch request', request)
    return {
      method: request.method,
      headers: request.headers,
      body: limits => readRequestBody(request, limits),
      context: { request, env },
      waitUntil: findWaitUntil(env, execution, request),
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    return UNREADABLE
  }
}
