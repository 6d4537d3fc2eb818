import type { Duration } from '@ackhook/core'
import { durationMs, failedBefore } from '@ackhook/core/spi'
import type { ListQuery, View } from '../letters/list-letters.ts'
import type { LetterFilter } from '../protocol/protocol.ts'
import { Refused } from '../protocol/refused.ts'
import { joined, type Part } from '../protocol/words.ts'
import { duration, instant, type Optional, optional, pattern, text } from './fields.ts'

/** Arguments that select dead letters. They combine. */
export interface LetterArgs extends LetterFilter {
  readonly olderThan?: Duration | undefined
}

export const NAMESPACE: Optional<string> = optional(
  text('only events in this namespace', { sign: 'name', mayBeEmpty: true }),
)

export const LETTER_FIELDS: {
  readonly namespace: Optional<string>
  readonly type: Optional<string>
  readonly error: Optional<string>
  readonly olderThan: Optional<string, Duration>
  readonly group: Optional<string>
  readonly reason: Optional<string>
  readonly text: Optional<string>
  readonly id: Optional<string>
  readonly failedBy: Optional<number>
} = {
  namespace: NAMESPACE,
  type: optional(pattern("only events of this type, or of a category: 'order.*'")),
  error: optional(text('only those whose last error has this class, such as TypeError', { sign: 'class' })),
  olderThan: optional(duration('only those whose last attempt is longer ago, such as 30d')),
  group: optional(text('only those of one group, by its fingerprint', { sign: 'fingerprint' })),
  reason: optional(text('only those whose last error contains this text, ignoring case')),
  text: optional(text('only those whose id, type or namespace contains this', { isForPages: true })),
  id: optional(text('only the event with this id', { isForPages: true })),
  failedBy: optional(instant('only those that failed at or before this time', { isForPages: true })),
}

/** Names of the filters that a person writes, besides the namespace. */
export const FILTERS = ['type', 'error', 'group', 'olderThan', 'reason'] as const

/** Returns whether arguments limit a verb to some dead letters. */
export function isFiltered({
  type,
  error,
  reason,
  group,
  text,
  id,
  namespace,
  olderThan,
  failedBy,
}: LetterArgs): boolean {
  return (type ?? error ?? reason ?? group ?? text ?? id ?? namespace ?? olderThan ?? failedBy) !== undefined
}

/** Names the filters and their values, as a person would write them. */
export function filterWords(args: LetterArgs): readonly Part[] {
  const given = ([...FILTERS, 'namespace'] as const).flatMap(field => {
    const value = args[field]
    return value === undefined ? [] : [[{ field, value }]]
  })
  return joined(given, ' ')
}

/** The query of the letters that arguments select. An age becomes a time by the inbox's own clock. */
export async function queryOf(
  { type, error, reason, group, text, id, namespace, olderThan, failedBy }: LetterArgs,
  { inbox }: Pick<View, 'inbox'>,
): Promise<Omit<ListQuery, 'state'>> {
  const bounds = [failedBy, await boundOf(olderThan, inbox)].filter(one => one !== undefined)
  return {
    ...{ type, error, reason, group, text, id, namespace },
    ...(bounds.length > 0 && { failedBy: Math.min(...bounds) }),
  }
}

async function boundOf(olderThan: Duration | undefined, inbox: View['inbox']): Promise<number | undefined> {
  if (olderThan === undefined) return undefined
  const limits = { option: 'olderThan', minMs: 0, maxMs: Number.MAX_SAFE_INTEGER }
  const bound = await failedBefore(inbox.deadLetters, durationMs(olderThan, limits))
  if (bound === undefined)
    throw new Refused('unsupported', [
      { field: 'olderThan' },
      " needs a clock: this machine's is more than a week past the newest time in the inbox, so the age of a letter is in doubt. Check the clock, or give event ids",
    ])
  return bound
}
