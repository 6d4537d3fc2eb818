import { ConfigurationError } from '../errors/errors.ts'

/** Throws unless `pattern` is valid for `on`: a type, a category or `'*'`. */
export function requirePattern(option: string, pattern: unknown): asserts pattern is string {
  if (typeof pattern !== 'string' || !/^(?:\*|[^*]+|[^*.]+\.\*)$/.test(pattern))
    throw new ConfigurationError(
      option,
      `'${String(pattern)}' is not a pattern: use a type ('conversation.resolved'), a category ('conversation.*') or '*'`,
    )
}

/** Returns whether a pattern matches a type, or everything that another pattern matches. */
export function covers(wider: string, type: string): boolean {
  return wider === type || wider === '*' || (wider.endsWith('.*') && type.startsWith(wider.slice(0, -1)))
}
