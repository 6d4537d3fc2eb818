import type { LetterFilter, VerbView } from '../../../packages/dashboard/src/protocol/protocol.ts'
import type { Outcome } from '../../../packages/dashboard/src/protocol/verbs.ts'
import { confirm, type Scope } from '../kit/confirm.tsx'
import { isUnderWay, runTask, type TaskControl } from '../kit/tasks.tsx'
import { formatCount } from '../kit/text.ts'
import { toast } from '../kit/toasts.tsx'
import { countLeft, isBatchChanging, startBatch } from './batches.tsx'
import type { EventSelection } from './filters.tsx'
import { doVerb } from './verbs.ts'

const COUNTING = 'Counting letters'

/** Returns whether a task is counting or changing letters. Only one may run at a time. */
export function isChanging(): boolean {
  return isUnderWay(COUNTING) || isBatchChanging()
}

/** Asks for confirmation, then starts a batch of these letters. Resolves with whether it started. */
export async function changeLetters(verb: VerbView, keys: readonly string[]): Promise<boolean> {
  if (!(await isSure(verb, `${verb.words.label} ${countOf(keys.length)}?`, keys.length))) return false
  return startBatch(verb.name, { keys, total: keys.length })
}

/**
 * Counts the letters that a list shows, asks for confirmation, then starts a batch. Letters that failed after `failedBy`,
 * in server time, or after the filter's own limit stay unchanged. `known` is their number if already counted.
 */
export async function changeMatching(
  verb: VerbView,
  { filter, words }: Pick<EventSelection, 'filter' | 'words'>,
  { failedBy, known }: { readonly failedBy: number; readonly known?: number | undefined },
): Promise<boolean> {
  const matching = { ...filter, failedBy: Math.min(failedBy, filter.failedBy ?? failedBy), all: true }
  const count = known ?? (await countMatching(verb, matching))
  if (count === undefined) return false
  if (count === 0) {
    toast('good', 'No letters match.')
    return false
  }
  const which = words.length === 0 ? '' : ' that match'
  const scope = { words, whole: 'No filter is set: these are all dead letters of this inbox.' }
  const title = `${verb.words.label} all ${countOf(count)}${which}?`
  if (!(await isSure(verb, title, count, scope))) return false
  return startBatch(verb.name, { ...matching, total: count })
}

/** Runs one letter again without a summary, because its page shows the result. */
export async function runOne(verb: VerbView, key: string): Promise<boolean> {
  const { label, done } = verb.words
  if (!(await isSure(verb, `${label} ${countOf(1)}?`, 1))) return false
  try {
    const { data } = (await doVerb(verb.name, { keys: [key], noFollow: true })) as Outcome
    const changed = (data as Readonly<Record<string, unknown>>)[done]
    if (changed === 0) toast('bad', `Not ${done}: the letter no longer exists, or the inbox is full.`)
    return changed === 1
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return false
  }
}

function isSure(verb: VerbView, title: string, count: number, scope?: Scope): Promise<boolean> {
  const isDangerous = verb.changes === 'for good' || count > 1
  return confirm(title, `${verb.effect}.`, `${verb.words.label} ${countOf(count)}`, isDangerous, scope)
}

/** Counts matching letters. Resolves with `undefined` after a reported error or a stop. */
function countMatching(verb: VerbView, matching: LetterFilter): Promise<number | undefined> {
  const work = async ({ signal, progress }: TaskControl) => {
    const count = await countLeft(verb.name, matching, signal, progress)
    return signal.aborted ? undefined : count
  }
  return runTask(COUNTING, work, () => '')
}

function countOf(count: number): string {
  return count === 1 ? '1 letter' : `${formatCount(count)} letters`
}
