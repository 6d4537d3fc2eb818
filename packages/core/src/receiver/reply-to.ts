import { replyFor } from '../http/reply.ts'
import type { WebhookReply, WebhookRequest } from '../http/request.ts'

/**
 * Hands the reply of `receiver.handle(request)` to `write`, for adapters. The receiver's own `handle` never fails; a
 * wrapper around it may, and the sender waits for an answer all the same. `write` must not throw.
 */
export function replyTo<Context>(
  receiver: { handle(request: WebhookRequest<Context>): Promise<WebhookReply> },
  request: WebhookRequest<Context>,
  write: (reply: WebhookReply) => void,
): void {
  const failed = (): void => write(replyFor('internal_error'))
  try {
    void receiver.handle(request).then(write, failed)
  } catch {
    failed()
  }
}
