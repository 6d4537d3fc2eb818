import { ConfigurationError } from '../errors/errors.ts'

/** Throws unless it is what `on` takes: a type, a category or `'*'`. */
export function requirePattern(option: string, pattern: unknown): asserts pattern is string {
  if (typeof pattern !== 'string' || pattern === '')
    throw new ConfigurationError(option, 'an event type must be a non-empty string')
  const isCategory = /^[^*.]+\.\*$/.test(pattern)
  if (pattern !== '*' && pattern.includes('*') && !isCategory)
    throw new ConfigurationError(
      option,
      `'${pattern}' is not a pattern: use a type ('conversation.resolved'), a category ('conversation.*') or '*'`,
    )
}

/** Whether a pattern takes a type, or all that another pattern takes. */
export function covers(wider: string, type: string): boolean {
  return wider === type || wider === '*' || (wider.endsWith('.*') && type.startsWith(wider.slice(0, -1)))
}
