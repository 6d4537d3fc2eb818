import { covers, type DeadLetterStore, groupOf } from '@ackhook/core/spi'

/** Selects the dead letters that a tool shows or changes. Filters combine. */
export interface LetterFilter {
  /** A type, a category such as `'conversation.*'` or `'*'`, as in `on`. */
  readonly type?: string | undefined
  /** The class of the last error, as {@link errorNameOf} reads it. */
  readonly error?: string | undefined
  /** The group that the letter is counted in, a fingerprint of `deadLetters.groups`. */
  readonly group?: string | undefined
}

/** Returns `TypeError` for `TypeError: x is undefined`. Empty if the reason has no class: a handler may throw a string. */
export function errorNameOf(reason: string): string {
  return /^[\w$.-]{1,100}(?=:)/.exec(reason)?.[0] ?? ''
}

/** Returns whether a letter matches a filter. */
export function matchesLetter({ type = '*', error, group }: LetterFilter, letter: FilteredLetter): boolean {
  const { reason = '' } = letter
  if (!covers(type, letter.type)) return false
  if (error !== undefined && errorNameOf(reason) !== error) return false
  return group === undefined || groupOf({ ...letter, reason }) === group
}

/** What a filter compares. */
export interface FilteredLetter {
  readonly id: string
  readonly type: string
  readonly reason?: string | undefined
  readonly group?: string
}

/** Redrives or discards up to a hundred letters. Returns the keys of those that existed and that had room to run. */
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
