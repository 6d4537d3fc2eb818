import type { IncomingMessage, ServerResponse } from 'node:http'
import { replyTo } from '../http/reply.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { fromNodeRequest } from './node-request.ts'
import { writeReply } from './write-reply.ts'

/**
 * A receiver as a listener of `node:http` and everything built on it. The request is the context of `secret`
 * and `namespace`.
 *
 * @example
 * createServer(toNodeHandler(receiver)).listen(3000)
 */
export function toNodeHandler<Request extends IncomingMessage>(
  receiver: Pick<Receiver<never, Request>, 'handle'>,
): (request: Request, response: ServerResponse) => void {
  return (request, response) =>
    replyTo(receiver, fromNodeRequest(request, request), reply => writeReply(request, response, reply))
}
