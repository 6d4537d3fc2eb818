import { durationMs, requirePattern } from '@ackhook/core/spi'
import { UsageError } from '../command/usage-error.ts'
import type { FilterFlags } from './inbox-flags.ts'

/** Returns whether a filter limits the command to some dead letters. */
export function isFiltered({ namespace, type, error, group, olderThan }: FilterFlags): boolean {
  return (namespace ?? type ?? error ?? group ?? olderThan) !== undefined
}

/** Returns the time until which a letter must have failed, in milliseconds since the epoch. */
export function failedByOf({ olderThan }: FilterFlags): number | undefined {
  if (olderThan === undefined) return undefined
  return (
    Date.now() - durationMs(olderThan, { option: 'older-than', minMs: 0, maxMs: Number.MAX_SAFE_INTEGER })
  )
}

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
