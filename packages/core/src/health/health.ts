import type { Receiver } from '../receiver/receiver.ts'
import { createProbe } from './readiness.ts'

/**
 * Creates a Fetch handler for an orchestrator's probes. `GET …/live` returns 200 as long as the process responds.
 * `GET …/ready` returns 200 while the receiver accepts deliveries, otherwise 503 with `starting`, `draining`,
 * `inbox_unavailable` or `never_started` as the JSON's `status`. It starts the inbox if nothing has, unless stored events
 * may wait in it: those need `start()`, which is then `never_started`. Any other path gets 404. Reads only
 * the request's `url` and never rejects. Throws `ConfigurationError` if the argument is not a receiver.
 *
 * @example
 * const probe = health(receiver)
 * export const GET = (request: Request) => probe(request)
 */
export function health(
  receiver: Pick<Receiver<never, never>, 'start'>,
): (request: { readonly url: string }) => Promise<Response> {
  const probe = createProbe(receiver)
  return async request => {
    const { body, ...head } = await probe(() => request.url)
    return new Response(body, head)
  }
}
