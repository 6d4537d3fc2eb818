import type {
  ChangeReport,
  ChangeRequest,
  LetterFilter,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { confirm } from '../kit/confirm.tsx'
import { formatCount } from '../kit/format-count.ts'
import { isUnderWay, runTask, type TaskControl } from '../kit/tasks.tsx'
import { toast } from '../kit/toasts.tsx'

export type Change = 'redrive' | 'discard'

const PAGE = 200
const DONE = { redrive: 'redriven', discard: 'discarded' } as const
const VERB = { redrive: 'Redrive', discard: 'Discard' } as const
const TITLE = { redrive: 'Redriving', discard: 'Discarding' } as const
const COUNTING = 'Counting letters'
const WHAT = {
  redrive: 'They run again in the processes of your app, from attempt 1.',
  discard: 'They are deleted for good, with their bodies.',
} as const

/** Whether letters are counted or changed: one such task at a time. */
export function isChanging(): boolean {
  return [COUNTING, TITLE.redrive, TITLE.discard].some(isUnderWay)
}

/** Asks, then changes the letters with these keys. Returns whether it began. */
export async function changeLetters(action: Change, keys: readonly string[]): Promise<boolean> {
  if (!(await isSure(action, `${VERB[action]} ${countOf(keys.length)}?`, keys.length))) return false
  return change(action, keys.length, async ({ signal, report }) => {
    for (let at = 0; at < keys.length && !signal.aborted; at += PAGE)
      report(await post(action, { keys: keys.slice(at, at + PAGE) }))
  })
}

/**
 * Counts what matches, asks with that number, then changes page by page until it is stopped. Letters that fail after
 * `failedBy`, a time of the server, stay. `known`: how many match, where a page has counted them.
 */
export async function changeMatching(
  action: Change,
  filter: LetterFilter,
  { failedBy, known }: { readonly failedBy: number; readonly known?: number | undefined },
): Promise<boolean> {
  const matching = { ...filter, failedBy }
  const count = known ?? (await countMatching(action, matching))
  if (count === undefined) return false
  if (count === 0) {
    toast('good', 'No letter matches.')
    return false
  }
  const which = Object.keys(filter).length === 0 ? '' : ' that match'
  if (!(await isSure(action, `${VERB[action]} all ${countOf(count)}${which}?`, count))) return false
  return change(action, count, work => eachPage(action, { matching }, work))
}

/** Redrives one letter without a summary: its page says what became of it. */
export async function redriveOne(key: string): Promise<boolean> {
  if (!(await isSure('redrive', `${VERB.redrive} ${countOf(1)}?`, 1))) return false
  try {
    const { changed } = await post('redrive', { keys: [key] })
    if (changed === 0) toast('bad', 'It was not redriven: it is no longer there, or the inbox has no room.')
    return changed === 1
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return false
  }
}

function isSure(action: Change, title: string, count: number): Promise<boolean> {
  return confirm(title, WHAT[action], `${VERB[action]} ${countOf(count)}`, action === 'discard' || count > 1)
}

interface Work {
  readonly signal: AbortSignal
  readonly report: (page: ChangeReport) => void
}

/** Runs the requests as a task. Returns true: an error too may come after some were changed. */
async function change(action: Change, count: number, work: (parts: Work) => Promise<void>): Promise<boolean> {
  const sum = { changed: 0, missed: 0 }
  const run = async ({ signal, progress }: TaskControl) => {
    progress(0, count)
    await work({
      signal,
      report({ changed, missed }) {
        sum.changed += changed
        sum.missed += missed
        progress(sum.changed + sum.missed, count)
      },
    })
    return summary(action, sum)
  }
  await runTask(TITLE[action], run, said => said)
  return true
}

/** `undefined` when they could not be counted, which is said, or it was stopped. */
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
  const rest = missed === 0 ? '' : ` ${countOf(missed)} could not be: no longer there, or no room.`
  return `${countOf(changed)} ${DONE[action]}.${rest}`
}

function countOf(count: number): string {
  return count === 1 ? '1 letter' : `${formatCount(count)} letters`
}
