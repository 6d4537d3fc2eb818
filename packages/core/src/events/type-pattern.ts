import { ConfigurationError } from '../errors/errors.ts'
import { distanceOf, nearest } from '../lib/nearest.ts'

/** Throws unless `pattern` is valid for `on`: a type, a category or `'*'`. */
export function requirePattern(option: string, pattern: unknown): asserts pattern is string {
  if (typeof pattern !== 'string' || !/^(?:\*|[^*]+|[^*.]+\.\*)$/.test(pattern))
    throw new ConfigurationError(
      option,
      `${typeof pattern === 'string' ? `'${pattern}'` : `a value of the type ${typeof pattern}`} is not a pattern: use a type ('conversation.resolved'), a category ('conversation.*') or '*'`,
    )
}

/** Returns whether a pattern matches a type, or everything that another pattern matches. */
export function covers(wider: string, type: string): boolean {
  return wider === type || wider === '*' || (wider.endsWith('.*') && type.startsWith(wider.slice(0, -1)))
}

/** Returns whether a pattern matches at least one of the known types. */
export function matchesAny(pattern: string, known: readonly string[]): boolean {
  return known.some(type => covers(pattern, type))
}

/** Returns the known type, or its category, that a pattern probably misspells. Slow, so only for messages. */
export function misspelled(pattern: string, known: readonly string[]): string | undefined {
  const isCategory = pattern.endsWith('.*')
  const names = isCategory ? known.map(type => `${categoryOf(type)}.*`) : known
  const sameName = names.find(name => lettersOf(name) === lettersOf(pattern) || nameOf(name) === pattern)
  const meant = sameName ?? nearest(pattern, names)
  return meant === undefined || sameName !== undefined || isClose(pattern, meant) ? meant : undefined
}

/**
 * Compares name and category apart, each by its length: `order.paid` does not misspell `order.void`, which differs in
 * half of its letters.
 */
function isClose(pattern: string, meant: string): boolean {
  if (!pattern.includes('.')) return true
  const parts = [
    [categoryOf(pattern), categoryOf(meant)],
    [nameOf(pattern), nameOf(meant)],
  ] as const
  return parts.every(([a, b]) => distanceOf(a.toLowerCase(), b.toLowerCase()) <= b.length / 3)
}

/** Ignores case, separators and white space, as in `Conversation_Resolved`. */
function lettersOf(pattern: string): string {
  return pattern.toLowerCase().replace(/[\s._:/-]/g, '')
}

function categoryOf(type: string): string {
  return type.split('.', 1)[0] ?? ''
}

function nameOf(type: string): string {
  return type.slice(categoryOf(type).length + 1)
}
