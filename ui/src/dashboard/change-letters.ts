import type {
  ChangeReport,
  ChangeRequest,
  LetterFilter,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { confirm, type Scope } from '../kit/confirm.tsx'
import { isUnderWay, runTask, type TaskControl } from '../kit/tasks.tsx'
import { formatCount } from '../kit/text.ts'
import { toast } from '../kit/toasts.tsx'
import { isBatchChanging, startBatch } from './batches.tsx'
import type { EventSelection } from './filters.tsx'

export type Change = 'redrive' | 'discard'

const VERB = { redrive: 'Redrive', discard: 'Discard' } as const
const COUNTING = 'Counting letters'
const WHAT = {
  redrive: "They run again in your app's processes, from attempt 1.",
  discard: 'They are permanently deleted, with their bodies.',
} as const

/** Returns whether a task is counting or changing letters. Only one may run at a time. */
export function isChanging(): boolean {
  return isUnderWay(COUNTING) || isBatchChanging()
}

/** Asks for confirmation, then starts a batch of these letters. Resolves with whether it started. */
export async function changeLetters(action: Change, keys: readonly string[]): Promise<boolean> {
  if (!(await isSure(action, `${VERB[action]} ${countOf(keys.length)}?`, keys.length))) return false
  return startBatch({ action, keys, total: keys.length })
}

/**
 * Counts the letters that a list shows, asks for confirmation, then starts a batch. Letters that failed after `failedBy`,
 * in server time, or after the filter's own limit stay unchanged. `known` is their number if already counted.
 */
export async function changeMatching(
  action: Change,
  { filter, words }: Pick<EventSelection, 'filter' | 'words'>,
  { failedBy, known }: { readonly failedBy: number; readonly known?: number | undefined },
): Promise<boolean> {
  const matching = { ...filter, failedBy: Math.min(failedBy, filter.failedBy ?? failedBy) }
  const count = known ?? (await countMatching(action, matching))
  if (count === undefined) return false
  if (count === 0) {
    toast('good', 'No letters match.')
    return false
  }
  const which = words.length === 0 ? '' : ' that match'
  const scope = { words, whole: 'No filter is set: these are all dead letters of this inbox.' }
  if (!(await isSure(action, `${VERB[action]} all ${countOf(count)}${which}?`, count, scope))) return false
  return startBatch({ action, matching, total: count })
}

/** Redrives one letter without a summary, because its page shows the result. */
export async function redriveOne(key: string): Promise<boolean> {
  if (!(await isSure('redrive', `${VERB.redrive} ${countOf(1)}?`, 1))) return false
  try {
    const { changed } = await post('redrive', { keys: [key] })
    if (changed === 0) toast('bad', 'Not redriven: the letter no longer exists, or the inbox is full.')
    return changed === 1
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return false
  }
}

function isSure(action: Change, title: string, count: number, scope?: Scope): Promise<boolean> {
  const isDangerous = action === 'discard' || count > 1
  return confirm(title, WHAT[action], `${VERB[action]} ${countOf(count)}`, isDangerous, scope)
}

/** Counts matching letters. Resolves with `undefined` after a reported error or a stop. */
function countMatching(action: Change, matching: LetterFilter): Promise<number | undefined> {
  const work = async ({ signal, progress }: TaskControl) => {
    let count = 0
    let after: string | undefined
    do {
      const page = await post(action, { matching, dryRun: true, ...(after !== undefined && { after }) })
      count += page.changed
      after = page.next
      progress(count)
    } while (after !== undefined && !signal.aborted)
    return signal.aborted ? undefined : count
  }
  return runTask(COUNTING, work, () => '')
}

function post(action: Change, body: ChangeRequest): Promise<ChangeReport> {
  return call(`api/letters/${action}`, { method: 'POST', body })
}

function countOf(count: number): string {
  return count === 1 ? '1 letter' : `${formatCount(count)} letters`
}
