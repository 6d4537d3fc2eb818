/** Answer of the platform. */
export interface SendResult<Body = unknown> {
  /** Any 2xx. */
  readonly status: number
  readonly headers: Headers
  /** The body if it is JSON, checked if there was a `schema`; otherwise `undefined`. */
  readonly body: Body
  /** The body as text, at most 1 MiB of it. */
  readonly text: string
  /** True if the body was longer than 1 MiB or broke off. The message was accepted all the same. */
  readonly truncated: boolean
}
