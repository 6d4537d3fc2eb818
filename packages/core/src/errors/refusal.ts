import type { RefusalCode } from './codes.ts'

/**
 * Reason why a request is refused. A value, not an exception: a flood of forged requests must not cost stack traces,
 * and a step that can refuse says so in its return type.
 */
export class Refusal {
  readonly code: RefusalCode
  /** Extra detail for the log. Never sent to the sender. */
  readonly detail: string | undefined
  readonly cause: unknown
  /** Milliseconds after which the sender may usefully try again. */
  readonly retryAfterMs: number | undefined
  /** Set if the log must show a fault on this side, whatever the status. */
  readonly level: 'error' | undefined

  constructor(code: RefusalCode, about: Partial<Omit<Refusal, 'code'>> = {}) {
    this.code = code
    this.detail = about.detail
    this.cause = about.cause
    this.retryAfterMs = about.retryAfterMs
    this.level = about.level
  }
}
