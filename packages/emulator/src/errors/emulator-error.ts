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

/** HTTP status of each code. */
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

/** Error for a refused call. Switch on `code`, which is stable; the message is not. */
export class EmulatorError extends Error {
  override readonly name: string = 'EmulatorError'
  readonly code: EmulatorErrorCode
  /** Name of the invalid field, for `invalid_request`. */
  readonly field: string | undefined

  constructor(code: EmulatorErrorCode, message: string, field?: string) {
    // Messages quote ids and paths from requests, and reach logs and terminals.
    super(printable(message))
    this.code = code
    this.field = field
  }
}

/** Creates the error for a request with an invalid `field`. */
export function invalid(field: string, fix: string): EmulatorError {
  return new EmulatorError('invalid_request', `${field} ${fix}`, field)
}
