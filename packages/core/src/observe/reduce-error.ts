import { describeError } from '../errors/errors.ts'
import { isError } from '../errors/is-error.ts'

const MAX_DEPTH = 5

/**
 * Copies an error for a log, with only its name, message, code, stack, cause and the errors of an `AggregateError`:
 * libraries put clients, parameters and passwords on their errors. Any other object becomes text. Never throws.
 */
export function reduceError(thrown: unknown, depth = 0): unknown {
  if (!isError(thrown)) return isObject(thrown) ? describeError(thrown) : thrown
  try {
    const { name, message, stack, cause, code, errors } = thrown as Error & {
      code?: unknown
      errors?: unknown
    }
    const isDeep = depth >= MAX_DEPTH
    const reduced = new Error(
      message,
      cause === undefined || isDeep ? {} : { cause: reduceError(cause, depth + 1) },
    )
    const kept = {
      name,
      stack,
      ...(isPlain(code) && { code }),
      ...(Array.isArray(errors) && !isDeep && { errors: errors.map(one => reduceError(one, depth + 1)) }),
    }
    // JSON has nothing of an error, and not every logger has a serializer for it.
    const toJSON = () => ({ message, ...kept, ...(reduced.cause !== undefined && { cause: reduced.cause }) })
    for (const [key, value] of Object.entries({ ...kept, toJSON }))
      Object.defineProperty(reduced, key, {
        value,
        enumerable: key === 'code',
        configurable: true,
        writable: true,
      })
    return reduced
  } catch {
    return describeError(thrown)
  }
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function isPlain(code: unknown): boolean {
  return typeof code === 'string' || typeof code === 'number'
}
