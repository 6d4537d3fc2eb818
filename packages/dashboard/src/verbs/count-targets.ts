import type { Outcome } from '../protocol/verbs.ts'
import { Refusals } from './refusals.ts'
import type { Read } from './targets.ts'
import type { Call } from './verb.ts'

/** Counts the events that a verb would change, until it is ended. */
export async function countTargets(
  { signal }: Call<unknown>,
  read: Read,
  would: string,
  start: string | undefined,
): Promise<Outcome> {
  const refusals = new Refusals()
  let matched = 0
  let after = start
  do {
    const { found, next } = await read(after)
    for (const one of found)
      if ('refusal' in one) refusals.add(one.id, one.refusal)
      else matched++
    after = next
  } while (after !== undefined && !signal.aborted)
  const isCut = after !== undefined
  const words = [`${matched} ${would}`, ...refusals.words, ...(isCut ? [', stopped before the end'] : [])]
  return {
    isDone: refusals.count === 0 && !isCut,
    data: { matched, ...refusals.data, ...(isCut && { next: after }) },
    blocks: [{ kind: 'line', words: words }],
  }
}
