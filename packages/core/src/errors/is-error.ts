import { kindOf } from './kind-of.ts'

/** Returns whether a value is an error of any realm. Never throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || ['Error', 'DOMException'].includes(kindOf(value))
  } catch {
    // Thrown by a proxy's `getPrototypeOf` trap.
    return false
  }
}
