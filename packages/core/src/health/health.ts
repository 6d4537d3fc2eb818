import type { Receiver } from '../receiver/receiver.ts'
import { createProbe } from './readiness.ts'

/**
 * The probes of an orchestrator, as a Fetch handler. `GET …/live` answers 200 for as long as the process answers at all.
 * Any other path asks for readiness: 200 while the receiver takes deliveries; 503 with `starting`, `draining` or
 * `inbox_unavailable` as the `status` of its JSON while it does not. Starts the inbox if nothing has. Needs no more of
 * the request than its `url`, and never rejects. Throws `ConfigurationError` for what is no receiver.
 *
 * @example
 * const probe = health(receiver)
 * export const GET = (request: Request) => probe(request)
 */
export function health(
  receiver: Pick<Receiver<never, never>, 'start'>,
): (request: { readonly url: string }) => Promise<Response> {
  const probe = createProbe(receiver)
  return async ({ url }) => {
    const { body, ...head } = await probe(url)
    return new Response(body, head)
  }
}
