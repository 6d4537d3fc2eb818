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
import type { EventSelection } from './filters.tsx'
import { followRedriven } from './follow-redriven.tsx'

export type Change = 'redrive' | 'discard'

const PAGE = 200
const DONE = { redrive: 'redriven', discard: 'discarded' } as const
const VERB = { redrive: 'Redrive', discard: 'Discard' } as const
const TITLE = { redrive: 'Redriving', discard: 'Discarding' } as const
const COUNTING = 'Counting letters'
const WHAT = {
  redrive: "They run again in your app's processes, from attempt 1.",
  discard: 'They are permanently deleted, with their bodies.',
} as const

/** Returns whether a task is counting or changing letters. Only one may run at a time. */
export function isChanging(): boolean {
  return [COUNTING, TITLE.redrive, TITLE.discard].some(isUnderWay)
}

/** Asks for confirmation, then changes the letters with these keys. Resolves with whether it started. */
export async function changeLetters(action: Change, keys: readonly string[]): Promise<boolean> {
  if (!(await isSure(action, `${VERB[action]} ${countOf(keys.length)}?`, keys.length))) return false
  return change(action, keys.length, async ({ signal, report }) => {
    for (let at = 0; at < keys.length && !signal.aborted; at += PAGE)
      report(await post(action, { keys: keys.slice(at, at + PAGE) }))
  })
}

/**
 * Counts the letters that a list shows, asks for confirmation, then changes them page by page until stopped. Letters
 * that failed after `failedBy`, in server time, stay unchanged. `known` is their number if already counted.
 */
export async function changeMatching(
  action: Change,
  { filter, words }: Pick<EventSelection, 'filter' | 'words'>,
  { failedBy, known }: { readonly failedBy: number; readonly known?: number | undefined },
): Promise<boolean> {
  const matching = { ...filter, failedBy }
  const count = known ?? (await countMatching(action, matching))
  if (count === undefined) return false
  if (count === 0) {
    toast('good', 'No letters match.')
    return false
  }
  const which = words.length === 0 ? '' : ' that match'
  const scope = { words, whole: 'No filter is set: these are all dead letters of this inbox.' }
  if (!(await isSure(action, `${VERB[action]} all ${countOf(count)}${which}?`, count, scope))) return false
  return change(action, count, work => eachPage(action, { matching }, work), filter.group)
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

interface Work {
  readonly signal: AbortSignal
  readonly report: (page: ChangeReport) => void
}

/** Runs the requests as a task. Always returns true, as some letters may have changed before an error. */
async function change(
  action: Change,
  count: number,
  work: (parts: Work) => Promise<void>,
  group?: string,
): Promise<boolean> {
  const sum = { changed: 0, missed: 0 }
  const changedKeys: string[] = []
  const run = async ({ signal, progress }: TaskControl) => {
    progress(0, count)
    await work({
      signal,
      report({ changed, missed, keys = [] }) {
        changedKeys.push(...keys)
        sum.changed += changed
        sum.missed += missed
        progress(sum.changed + sum.missed, count)
      },
    })
    return summary(action, sum)
  }
  await runTask(TITLE[action], run, said => said)
  if (action === 'redrive' && changedKeys.length > 0) void followRedriven(changedKeys, group)
  return true
}

/** Counts matching letters. Resolves with `undefined` after a reported error or a stop. */
function countMatching(action: Change, matching: LetterFilter): Promise<number | undefined> {
  const work = async ({ signal, progress }: TaskControl) => {
    let count = 0
    const report = ({ changed }: ChangeReport) => {
      count += changed
      progress(count)
    }
    await eachPage(action, { matching, dryRun: true }, { signal, report })
    return signal.aborted ? undefined : count
  }
  return runTask(COUNTING, work, () => '')
}

async function eachPage(
  action: Change,
  request: Extract<ChangeRequest, { matching: unknown }>,
  { signal, report }: Work,
): Promise<void> {
  let after: string | undefined
  do {
    const page = await post(action, { ...request, ...(after !== undefined && { after }) })
    report(page)
    after = page.next
  } while (after !== undefined && !signal.aborted)
}

function post(action: Change, body: ChangeRequest): Promise<ChangeReport> {
  return call(`api/letters/${action}`, { method: 'POST', body })
}

function summary(action: Change, { changed, missed }: Omit<ChangeReport, 'next'>): string {
  const reason = `could not be ${DONE[action]}: no longer there${action === 'redrive' ? ', or the inbox is full' : ''}`
  const rest = missed === 0 ? '' : ` ${countOf(missed)} ${reason}.`
  return `${countOf(changed)} ${DONE[action]}.${rest}`
}

function countOf(count: number): string {
  return count === 1 ? '1 letter' : `${formatCount(count)} letters`
}
