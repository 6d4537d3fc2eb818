import { MAX_DEPTH, type NetworkError } from './cause-code.ts'

/** Node's names for system calls before the first byte. */
const BEFORE_SENDING = ['connect', 'getaddrinfo']
/** Codes of connections that failed. Bun sets only these, and older versions only the last one. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused']

/**
 * Returns whether an error of `fetch` proves that no byte of the request was sent. Only codes prove that, never a
 * message.
 */
export function neverLeft(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false
  const { code, syscall, cause, errors } = error as NetworkError
  if (cause !== undefined) return neverLeft(cause, depth + 1)
  // The host has several addresses, each of which was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(one => neverLeft(one, depth + 1))
  return BEFORE_SENDING.includes(String(syscall)) || NOT_CONNECTED.includes(String(code))
}
