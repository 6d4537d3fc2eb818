import type { Inbox } from '@ackhook/core'
import { type LetterFilter, matchesLetter } from '@ackhook/dashboard/letters'

const PAGE = 500

/** A dead letter without its body. */
export interface DeadTarget {
  readonly key: string
  readonly id: string
  readonly namespace: string
}

/** Filter of a command. */
export interface TargetFilter extends LetterFilter {
  /** Absent: any. */
  readonly namespace?: string | undefined
}

export function matchesTarget(filter: TargetFilter, letter: TargetHead): boolean {
  const { namespace = letter.namespace } = filter
  return letter.namespace === namespace && matchesLetter(filter, letter)
}

type TargetHead = DeadTarget & { readonly type: string; readonly reason?: string | undefined }

/**
 * The dead letters that exist at the beginning, once each, a page at a time, as far as they match. The newest come first: one that is redriven and fails again becomes the newest, and no page after it has it.
 */
export async function* deadLetterPages(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
  filter: TargetFilter = {},
): AsyncGenerator<readonly DeadTarget[]> {
  let after: string | undefined
  for (;;) {
    const page = await readPage(inbox, after)
    // A short page proves nothing: inboxes end one early whose bodies are large.
    if (page.length === 0) return
    after = page.at(-1)?.cursor
    const wanted = page.filter(letter => matchesTarget(filter, letter))
    if (wanted.length > 0) yield wanted
  }
}

/** Prefers `browse`, which reads no bodies. */
async function readPage(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
  after: string | undefined,
): Promise<readonly (TargetHead & { readonly cursor: string })[]> {
  const page = { limit: PAGE, ...(after !== undefined && { after }) }
  if (inbox.browse !== undefined && inbox.browsing?.states.includes('dead')) {
    return inbox.browse({ state: 'dead', ...page })
  }
  return inbox.deadLetters.list(page)
}
