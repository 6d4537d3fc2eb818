import type { Inbox } from '@ackhook/core'

const PAGE = 500

/** A dead letter without its body. */
export interface DeadTarget {
  readonly key: string
  readonly id: string
  readonly namespace: string
}

/**
 * The dead letters that exist at the beginning, once each, a page at a time; with `namespace`, only those in it. The
 * newest come first: one that is redriven and fails again becomes the newest, and no page after it has it.
 */
export async function* deadLetterPages(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
  namespace?: string,
): AsyncGenerator<readonly DeadTarget[]> {
  let after: string | undefined
  for (;;) {
    const page = await readPage(inbox, after)
    // A short page proves nothing: inboxes end one early whose bodies are large.
    if (page.length === 0) return
    after = page.at(-1)?.cursor
    const wanted = page.filter(letter => namespace === undefined || letter.namespace === namespace)
    if (wanted.length > 0) yield wanted
  }
}

/** Prefers `browse`, which reads no bodies. */
async function readPage(
  inbox: Pick<Inbox, 'deadLetters' | 'browse' | 'browsing'>,
  after: string | undefined,
): Promise<readonly (DeadTarget & { readonly cursor: string })[]> {
  const page = { limit: PAGE, ...(after !== undefined && { after }) }
  if (inbox.browse !== undefined && inbox.browsing?.states.includes('dead')) {
    return inbox.browse({ state: 'dead', ...page })
  }
  return inbox.deadLetters.list(page)
}
