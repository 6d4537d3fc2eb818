/** The platform's response. */
export interface SendResult<Body = unknown> {
  /** Any 2xx. */
  readonly status: number
  readonly headers: Headers
  /** The body if it is JSON, checked if there was a `schema`; otherwise `undefined`. */
  readonly body: Body
  /** First 1 MiB of the body as text. */
  readonly text: string
  /** True if the body was longer than 1 MiB or incomplete. The message was accepted anyway. */
  readonly truncated: boolean
}
