import type { DeadLetter, Inbox } from '@ackhook/core'

const PAGE = 500

/**
 * The dead letters that exist at the beginning, once each, a page at a time. The newest come first: one that is redriven
 * and fails again becomes the newest, and no page after it has it.
 */
export async function* deadLetterPages(
  inbox: Pick<Inbox, 'deadLetters'>,
): AsyncGenerator<readonly DeadLetter[]> {
  let after: string | undefined
  do {
    const page = await inbox.deadLetters.list({ limit: PAGE, ...(after !== undefined && { after }) })
    if (page.length > 0) yield page
    after = page.at(-1)?.cursor
  } while (after !== undefined)
}
