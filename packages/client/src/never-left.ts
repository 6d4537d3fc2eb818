interface NetworkError {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** Node's own words for what comes before the first byte. */
const BEFORE_SENDING = ['connect', 'getaddrinfo']
/** Bun has these codes alone, and older versions of it the last one. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused']

/** Whether an error of `fetch` proves that no byte of the request was sent. Only codes prove that, never a message. */
export function neverLeft(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, syscall, cause, errors } = error as NetworkError
  if (cause !== undefined) return neverLeft(cause)
  // A host with several addresses: each was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverLeft)
  return BEFORE_SENDING.includes(String(syscall)) || NOT_CONNECTED.includes(String(code))
}
