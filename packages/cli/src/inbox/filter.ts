import type { Inbox } from '@ackhook/core'
import { durationMs, failedBefore, requirePattern } from '@ackhook/core/spi'
import { UsageError } from '../command/usage-error.ts'
import type { FilterFlags } from './inbox-flags.ts'

/** Returns whether a filter limits the command to some dead letters. */
export function isFiltered({ namespace, type, error, group, olderThan }: FilterFlags): boolean {
  return (namespace ?? type ?? error ?? group ?? olderThan) !== undefined
}

/** Returns the time until which a letter must have failed, in milliseconds since the epoch by the inbox's own clock. */
export async function failedByOf(
  { olderThan }: FilterFlags,
  { deadLetters }: Pick<Inbox, 'deadLetters'>,
): Promise<number | undefined> {
  if (olderThan === undefined) return undefined
  const limits = { option: 'older-than', minMs: 0, maxMs: Number.MAX_SAFE_INTEGER }
  const failedBy = await failedBefore(deadLetters, durationMs(olderThan, limits))
  if (failedBy === undefined) throw new UsageError(IN_DOUBT)
  return failedBy
}

const IN_DOUBT =
  "--older-than needs a clock: this machine's is more than a week past the newest time in the inbox, so the age of a letter is in doubt. Check the clock, or give event ids"

/** Rejects an invalid `--type` pattern, which would silently match nothing. */
export function checkFilter({ type }: FilterFlags): void {
  try {
    if (type !== undefined) requirePattern('type', type)
  } catch (cause) {
    throw new UsageError((cause as Error).message.replace(/^Option 'type':/, '--type').replace(/\.$/, ''), {
      cause,
    })
  }
}
