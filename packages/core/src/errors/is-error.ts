import { kindOf } from './kind-of.ts'

/** Returns whether a value is an error of any realm. Never throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || ['Error', 'DOMException'].includes(kindOf(value))
  } catch {
    // A proxy that throws when it is asked for its prototype.
    return false
  }
}
