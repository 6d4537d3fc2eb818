import type { DeadLetter, Inbox } from '@ackhook/core'

const PAGE = 1000

/**
 * Each dead letter that exists at the beginning, once, a page at a time. A redriven event may fail again at once, and
 * then hides the older ones behind it as one of the newest. So a page without anything new is read again, twice as
 * long, until it holds all of them.
 */
export async function* everyDeadLetter(
  inbox: Pick<Inbox, 'deadLetters' | 'stats'>,
): AsyncGenerator<DeadLetter> {
  const seen = new Set<string>()
  let limit = PAGE
  let newest: number | undefined
  while (true) {
    const page = await inbox.deadLetters.list({ limit })
    // By the clocks that wrote it, not by ours. Clocks that differ need not agree with the order.
    newest ??= page.reduce((latest, { failedAt }) => Math.max(latest, failedAt), 0)
    let found = false
    for (const letter of page) {
      if (letter.failedAt > newest || seen.has(letter.key)) continue
      found = true
      seen.add(letter.key)
      yield letter
    }
    if (found) continue
    if (limit >= (await inbox.stats()).dead) return
    limit *= 2
  }
}
