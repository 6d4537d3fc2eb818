import type { IncomingMessage, ServerResponse } from 'node:http'
import { createProbe } from '../health/readiness.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { wrongFramework } from '../receiver/to-receiver.ts'
import { writeReply } from './write-reply.ts'

/**
 * Creates `health(receiver)` for `node:http` and everything built on it, Express included. Its promise resolves when
 * the reply is written or the connection is gone. It rejects only with a `ConfigurationError`, for a call without Node's
 * request and response.
 *
 * @example
 * app.get('/health/:probe', nodeHealth(hooks))
 */
export function nodeHealth(
  receiver: Pick<Receiver<never, never>, 'start'>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const probe = createProbe(receiver)
  // An async function also for restify, which takes no other handler without `next`.
  return async (request, response) => {
    if (response?.writeHead === undefined)
      throw wrongFramework('nodeHealth(receiver)', "Node's request and response", request)
    await writeReply(request, response, await probe(() => request.url ?? '/'))
  }
}
