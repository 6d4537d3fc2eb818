import { AckhookError } from '@ackhook/core'
import { isError } from '@ackhook/core/spi'

/** A short name of an error: our code, or its class. Never its message, which may hold data of the event. */
export function errorType(error: unknown): string {
  if (error instanceof AckhookError) return error.code
  return isError(error) && error.name !== '' ? error.name : '_OTHER'
}
