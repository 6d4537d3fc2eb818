/** Properties that runtimes set on an error of `fetch`. */
export interface NetworkError {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** `fetch` wraps an error once or twice. A chain of causes may be a circle. */
export const MAX_DEPTH = 8
/** Words such as `ECONNREFUSED` or `ConnectionRefused`: anything else may repeat a part of the request. */
const WORD = /^[A-Z]\w{2,63}$/

/** The code of the innermost error that has one. A message shows it, because many loggers leave `cause` out. */
export function causeCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined
  const { code, cause, errors } = error as NetworkError
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  return causeCode(inner, depth + 1) ?? (typeof code === 'string' && WORD.test(code) ? code : undefined)
}
