import type { DeadLetter, Inbox } from '@ackhook/core'

const PAGE = 1000

/**
 * Each dead letter that is there at the beginning, once, a page at a time. What is redriven may fail again at once:
 * then it comes back as one of the newest and hides the older ones behind it, so a page without anything new is
 * asked for again, twice as long, until it holds all there are.
 */
export async function* everyDeadLetter(
  inbox: Pick<Inbox, 'deadLetters' | 'stats'>,
): AsyncGenerator<DeadLetter> {
  const seen = new Set<string>()
  let limit = PAGE
  let newest: number | undefined
  while (true) {
    const page = await inbox.deadLetters.list({ limit })
    // By the clocks that wrote it, and not by the one here; clocks that differ need not agree with the order.
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
