import { AckhookError } from '@ackhook/core'

/**
 * A short name for what a handler threw: our code, or the class of the error. Never its message: nobody knows
 * what a handler writes into one.
 */
export function errorType(error: unknown): string {
  if (error instanceof AckhookError) return error.code
  return error instanceof Error && error.name !== '' ? error.name : '_OTHER'
}
