import type { DeadLetter } from '@ackhook/core'
import { type BrowsedEvent, readGroups } from '@ackhook/core/spi'
import { type EventHead, headOf, type ListQuery, listEvents, MAX_REASON } from '../letters/list-letters.ts'
import { traceIdIn } from '../letters/locate.ts'
import { shorten } from '../letters/shorten.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import type { EventPage, EventRow, GroupList, LetterGroup } from '../protocol/protocol.ts'

/** One page of events, as a list of the pages shows them. */
export async function listRows(parts: ResolvedDashboard, query: ListQuery): Promise<EventPage> {
  const { events, next } = await listEvents(parts, query)
  return { events: events.map(rowOf), ...(next !== undefined && { next }) }
}

/** Omits the body, which only a letter's own page shows. */
export function toRow(event: BrowsedEvent | DeadLetter, parts: Pick<ResolvedDashboard, 'redact'>): EventRow {
  return rowOf(headOf(event, parts))
}

function rowOf(head: EventHead): EventRow {
  const { key, namespace, id, type, receivedAt, attempts, failedAt, reason, group, sealed, dueInMs } = head
  return {
    key,
    namespace,
    id,
    type,
    receivedAt,
    attempts,
    ...(failedAt !== undefined && { failedAt }),
    ...(reason !== undefined && { reason }),
    ...(group !== undefined && { group }),
    ...(sealed !== undefined && { sealed }),
    ...(dueInMs !== undefined && { dueInMs }),
    ...traceIdIn(head),
  }
}

/** Counts dead letters by the kind of their error. The groups are those of the errors as they are: only the text is redacted. */
export async function groupLetters({ inbox, activity, redact }: ResolvedDashboard): Promise<GroupList> {
  const { groups, counted, isPartial } = await readGroups(inbox.deadLetters)
  const shown = groups.map(({ sample, type, ...group }): LetterGroup => {
    const { key, namespace, id, reason, stack = activity?.stackOf(sample) } = sample
    const redacted = (text: string) => shorten(redact(text, { id, type, namespace }), MAX_REASON)
    return {
      ...{ ...group, type, key, namespace, id },
      reason: redacted(reason),
      ...(stack !== undefined && { stack: redacted(stack) }),
    }
  })
  return { groups: shown, counted, ...(isPartial && { isPartial }) }
}
