import type { Message } from './message.ts'
import type { BodySchema } from './schema.ts'
import type { SendOptions } from './send.ts'
import type { SendResult } from './send-result.ts'

/** Messages to your customers. */
export interface Messages {
  /**
   * Sends one message with `POST {baseUrl}/v1/messages`. Resolves for any 2xx, whatever its body is: the platform's response
   * body is undocumented. Rejects with a `ClientError` otherwise, and with the signal's own reason when `signal` was
   * aborted; the message may have been sent then. Nothing is repeated unless `retry` asks for it.
   *
   * With `schema`, any Standard Schema, the body is checked and has its type.
   */
  send(message: Message, options?: SendOptions): Promise<SendResult>
  send<Body>(
    message: Message,
    options: SendOptions & { readonly schema: BodySchema<Body> },
  ): Promise<SendResult<Body>>
}
