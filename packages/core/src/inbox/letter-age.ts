import type { DeadLetterStore } from './inbox.ts'

/**
 * Returns the time before which a letter must have failed to be older than `ageMs`. Every deletion by age asks here. Both
 * times are the store's: a process whose clock is wrong would otherwise delete the letters of all others.
 * `undefined` if the store cannot tell at present: no letter is then known to be that old.
 */
export async function failedBefore(
  letters: Pick<DeadLetterStore, 'now'>,
  ageMs: number,
): Promise<number | undefined> {
  const now = await letters.now?.()
  return now === undefined ? undefined : Math.floor(now - ageMs)
}
