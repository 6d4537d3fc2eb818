import type { IncomingMessage, ServerResponse } from 'node:http'
import { replyTo } from '../http/reply.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { requireReceiver, wrongFramework } from '../receiver/to-receiver.ts'
import { fromNodeRequest } from './node-request.ts'
import { writeReply } from './write-reply.ts'

/**
 * Wraps a receiver as a listener for `node:http` and everything built on it. The request is the context of `secret` and
 * `namespace`. The listener's promise resolves when the reply is written or the connection is gone. It rejects only with a
 * `ConfigurationError`, for a call without Node's request and response.
 *
 * @example
 * createServer(toNodeHandler(receiver)).listen(3000)
 */
export function toNodeHandler<Request extends IncomingMessage>(
  receiver: Pick<Receiver<never, Request>, 'handle'>,
): (request: Request, response: ServerResponse) => Promise<void> {
  requireReceiver(receiver, 'toNodeHandler')
  // An async function also for restify, which takes no other handler without `next`.
  return async (request, response) => {
    if (response?.writeHead === undefined)
      throw wrongFramework('a Node handler', "Node's request and response", request)
    await writeReply(request, response, await replyTo(receiver, fromNodeRequest(request, request)))
  }
}
