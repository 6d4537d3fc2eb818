/** A request as it arrived. */
export interface CapturedRequest {
  readonly method: string
  readonly url: string
  /** Headers in their original order and spelling, repeated ones included. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The exact bytes. */
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
}
