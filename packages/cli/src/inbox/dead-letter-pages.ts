import type { Inbox } from '@ackhook/core'
import { type LetterFilter, matchesLetter } from '@ackhook/dashboard/letters'

const PAGE = 500

/** A dead letter without its body. */
export interface DeadTarget {
  readonly key: string
  readonly id: string
  readonly namespace: string
  /** Known of a listed letter. */
  readonly type?: string
  readonly reason?: string | undefined
  readonly group?: string
}

/** A command's filter. */
export interface TargetFilter extends LetterFilter {
  /** Absent: any. */
  readonly namespace?: string | undefined
  /** Only letters that failed at or before this time. */
  readonly failedBy?: number | undefined
}

export function matchesTarget(filter: TargetFilter, letter: TargetHead): boolean {
  const { namespace = letter.namespace, failedBy = Number.POSITIVE_INFINITY } = filter
  if ((letter.failedAt ?? 0) > failedBy) return false
  return letter.namespace === namespace && matchesLetter(filter, letter)
}

type TargetHead = DeadTarget & {
  readonly type: string
  readonly failedAt?: number | undefined
}

/**
 * Yields the matching dead letters that exist at the start, once each, in pages from newest to oldest. A letter that is
 * redriven and fails again becomes the newest, so no later page contains it.
 */
export async function* deadLetterPages(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
  filter: TargetFilter = {},
): AsyncGenerator<readonly DeadTarget[]> {
  let after: string | undefined
  for (;;) {
    const page = await readPage(inbox, after, PAGE, filter.group)
    // An empty page is the end, not a short one: inboxes shorten pages whose bodies are large.
    if (page.length === 0) return
    after = page.at(-1)?.cursor
    const wanted = page.filter(letter => matchesTarget(filter, letter))
    if (wanted.length > 0) yield wanted
  }
}

/** Returns the dead letter that failed last. */
export async function newestDeadLetter(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
): Promise<TargetHead | undefined> {
  return (await readPage(inbox, undefined, 1))[0]
}

/** Prefers `browse`, which reads no bodies. Only `list` can read the letters of one group alone. */
async function readPage(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
  after: string | undefined,
  limit = PAGE,
  group?: string,
): Promise<readonly (TargetHead & { readonly cursor: string })[]> {
  const page = { limit, ...(after !== undefined && { after }) }
  if (group !== undefined) return inbox.deadLetters.list({ ...page, order: 'newest', group })
  if (inbox.browse !== undefined && inbox.browsing?.states.includes('dead')) {
    return inbox.browse({ state: 'dead', ...page })
  }
  return inbox.deadLetters.list({ ...page, order: 'newest' })
}
