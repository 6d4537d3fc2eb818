/**
 * Kind of failure.
 *
 * - `configuration`: an option or a field is wrong. Nothing was sent.
 * - `connection`: no response arrived. `sent` says whether the request may have arrived.
 * - `timeout`: no response within `timeout`. The message may have been sent.
 * - `api`: the platform's response is not 2xx, or its body does not match `schema`.
 */
export type ClientErrorCode = 'configuration' | 'connection' | 'timeout' | 'api'

/** Details that a {@link ClientError} carries besides its code and its message. */
export interface ClientErrorDetails {
  readonly sent?: 'no' | 'unknown'
  readonly status?: number
  readonly retryAfterMs?: number | undefined
  readonly headers?: Headers
  readonly body?: unknown
  readonly text?: string
  readonly issues?: readonly unknown[]
  readonly cause?: unknown
}

/**
 * The only error class of this package. Switch on `code`, which is stable; the message is not. No message contains the
 * API key, the recipient's number or a variable's value. The platform's response may repeat them, so a logger that prints
 * this error prints `status`, but not `headers`, `body`, `text` or `issues`: read those by name.
 *
 * @example
 * try {
 *   await client.messages.send({ channel: 'whatsapp', to, template: 'order_shipped' })
 * } catch (error) {
 *   if (error instanceof ClientError && error.code === 'api') console.error(error.status, error.body)
 *   else throw error
 * }
 */
export class ClientError extends Error {
  // A literal, because minifiers rename the class.
  override readonly name: string = 'ClientError'
  readonly code: ClientErrorCode
  /**
   * Set with `configuration`, `connection` and `timeout`. `no`: the request never left, so sending it again is safe.
   * `unknown`: the message may have been sent.
   */
  declare readonly sent?: 'no' | 'unknown'
  /** Status of the response, with `api`. */
  declare readonly status?: number
  /** Wait that the platform requests with the header `Retry-After`, in milliseconds, with `api`. */
  declare readonly retryAfterMs?: number
  readonly #details: ClientErrorDetails

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.#details = details
    const { sent, status, retryAfterMs } = details
    // Omits absent fields, so that logs show no fields without a value.
    if (sent !== undefined) this.sent = sent
    if (status !== undefined) this.status = status
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }

  /** Headers of the response, with `api`. */
  get headers(): Headers | undefined {
    return this.#details.headers
  }

  /** Body of the response, with `api`, if it is JSON of at most 64 KiB. */
  get body(): unknown {
    return this.#details.body
  }

  /** First 64 KiB of the body as text, with `api`. */
  get text(): string | undefined {
    return this.#details.text
  }

  /** Reasons why the body of a 2xx does not match `schema`. */
  get issues(): readonly unknown[] | undefined {
    return this.#details.issues
  }
}

/** Creates the error for a wrong option or field, `name`, with its fix. */
export function misconfigured(name: string, fix: string): ClientError {
  return new ClientError('configuration', `${name}: ${fix}`, { sent: 'no' })
}
