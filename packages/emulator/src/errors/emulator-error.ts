import { printable } from '@ackhook/core/spi'

/** Reasons why the emulator refuses a call. Each has its own status in the HTTP API. */
export type EmulatorErrorCode =
  | 'invalid_request'
  | 'not_found'
  | 'conflict'
  | 'unauthorized'
  | 'forbidden'
  | 'method_not_allowed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'undelivered_full'
  | 'closed'
  | 'wait_timeout'
  | 'internal'

/** The status of each code in the HTTP API. */
export const STATUS: Readonly<Record<EmulatorErrorCode, number>> = {
  invalid_request: 400,
  not_found: 404,
  conflict: 409,
  unauthorized: 401,
  forbidden: 403,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_media_type: 415,
  undelivered_full: 503,
  closed: 503,
  wait_timeout: 504,
  internal: 500,
}

/** A call that the emulator refuses. Switch on `code`; it is stable, the message is not. */
export class EmulatorError extends Error {
  override readonly name: string = 'EmulatorError'
  readonly code: EmulatorErrorCode
  /** The field at fault, for `invalid_request`. */
  readonly field: string | undefined

  constructor(code: EmulatorErrorCode, message: string, field?: string) {
    // A message repeats ids and paths of a request, and ends in logs and terminals.
    super(printable(message))
    this.code = code
    this.field = field
  }
}

/** A request whose `field` is wrong. */
export function invalid(field: string, fix: string): EmulatorError {
  return new EmulatorError('invalid_request', `${field} ${fix}`, field)
}
