import type { DeadLetterStore } from '@ackhook/core/spi'
import { covers } from '@ackhook/core/spi'

/** Selects the dead letters that a tool shows or changes. Filters combine. */
export interface LetterFilter {
  /** A type, a category such as `'conversation.*'` or `'*'`, as in `on`. */
  readonly type?: string | undefined
  /** The class of the last error, as {@link errorNameOf} reads it. */
  readonly error?: string | undefined
}

/** `TypeError` of `TypeError: x is undefined`. Empty for a reason without one: a handler may throw a text. */
export function errorNameOf(reason: string): string {
  return /^[\w$.-]{1,100}(?=:)/.exec(reason)?.[0] ?? ''
}

/** Returns whether a filter takes a letter. */
export function matchesLetter(
  { type = '*', error }: LetterFilter,
  letter: { readonly type: string; readonly reason?: string | undefined },
): boolean {
  return covers(type, letter.type) && (error === undefined || errorNameOf(letter.reason ?? '') === error)
}

/** Redrives or discards up to a hundred letters. Returns the keys of those that were there, and had room. */
export async function changeLetters(
  letters: DeadLetterStore,
  change: 'redrive' | 'discard',
  keys: readonly string[],
): Promise<readonly string[]> {
  const many = letters[`${change}Many`]?.(keys)
  if (many !== undefined) return many
  const changed = await Promise.all(keys.map(key => letters[change](key)))
  return keys.filter((_, i) => changed[i])
}
