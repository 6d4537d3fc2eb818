import type { Message } from './message.ts'
import type { BodySchema } from './schema.ts'
import type { SendOptions } from './send.ts'
import type { SendResult } from './send-result.ts'

/** Messages to your customers. */
export interface Messages {
  /**
   * Sends one message with `POST {baseUrl}/v1/messages`. Resolves for any 2xx, whatever its body: the platform's response
   * body is undocumented. Otherwise rejects with a `ClientError`, or with the signal's reason if `signal` was aborted; the
   * message may then have been sent. Requests are repeated only with `retry`.
   *
   * With `schema`, any Standard Schema, the body is checked and has the schema's type.
   */
  send(message: Message, options?: SendOptions): Promise<SendResult>
  send<Body>(
    message: Message,
    options: SendOptions & { readonly schema: BodySchema<Body> },
  ): Promise<SendResult<Body>>
}
