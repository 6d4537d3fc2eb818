/** Properties that runtimes set on an error of `fetch`. */
export interface NetworkError {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** Limit for a chain of causes, which may be circular. `fetch` wraps an error once or twice. */
export const MAX_DEPTH = 8
/** Words such as `ECONNREFUSED` or `ConnectionRefused`: any other code may repeat a part of the request. */
const WORD = /^[A-Z]\w{2,63}$/

/** Returns the code of the innermost error that has one. Messages include it, because many loggers omit `cause`. */
export function causeCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined
  const { code, cause, errors } = error as NetworkError
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  return causeCode(inner, depth + 1) ?? (typeof code === 'string' && WORD.test(code) ? code : undefined)
}
