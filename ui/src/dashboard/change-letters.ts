import type {
  ChangeReport,
  ChangeRequest,
  LetterFilter,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { confirm } from '../kit/confirm.tsx'
import { formatCount } from '../kit/format-count.ts'
import { attempt } from '../kit/toasts.tsx'

export type Change = 'redrive' | 'discard'

const PAGE = 200
const DONE = { redrive: 'redriven', discard: 'discarded' } as const
const TITLE = { redrive: 'Redrive', discard: 'Discard' } as const
const WHAT = {
  redrive: 'They run again in the processes of your app, from attempt 1.',
  discard: 'They are deleted for good, with their bodies.',
} as const

/** Asks, then changes the letters with these keys. Answers whether it was done. */
export async function changeLetters(action: Change, keys: readonly string[]): Promise<boolean> {
  const title = `${TITLE[action]} ${countOf(keys.length)}?`
  if (!(await confirm(title, WHAT[action], `${TITLE[action]} ${countOf(keys.length)}`, action === 'discard')))
    return false
  return attempt(async () => {
    const total = { changed: 0, missed: 0 }
    for (let at = 0; at < keys.length; at += PAGE)
      add(total, await post(action, { keys: keys.slice(at, at + PAGE) }))
    return summary(action, total)
  })
}

/**
 * Counts what matches, asks with that number, then changes page by page. Letters that fail after `failedBy`, a time of the
 * server, stay.
 */
export async function changeMatching(
  action: Change,
  filter: LetterFilter,
  failedBy: number,
): Promise<boolean> {
  const matching = { ...filter, failedBy }
  const count = await countMatching(action, matching)
  if (count === undefined) return false
  const title = `${TITLE[action]} all ${countOf(count)} that match?`
  if (!(await confirm(title, WHAT[action], `${TITLE[action]} ${countOf(count)}`, action === 'discard')))
    return false
  return attempt(async () => summary(action, await eachPage(action, matching, false)))
}

/** `undefined` when none match, or they could not be counted; both are said. */
async function countMatching(action: Change, matching: LetterFilter): Promise<number | undefined> {
  let count: number | undefined
  await attempt(async () => {
    const { changed } = await eachPage(action, matching, true)
    if (changed > 0) count = changed
    return changed === 0 ? 'No letter matches.' : `${countOf(changed)} match.`
  })
  return count
}

async function eachPage(action: Change, matching: LetterFilter, dryRun: boolean): Promise<Total> {
  const total = { changed: 0, missed: 0 }
  let after: string | undefined
  do {
    const report = await post(action, { matching, dryRun, ...(after !== undefined && { after }) })
    add(total, report)
    after = report.next
  } while (after !== undefined)
  return total
}

interface Total {
  changed: number
  missed: number
}

function add(total: Total, { changed, missed }: ChangeReport): void {
  total.changed += changed
  total.missed += missed
}

function post(action: Change, body: ChangeRequest): Promise<ChangeReport> {
  return call(`api/letters/${action}`, { method: 'POST', body })
}

function summary(action: Change, { changed, missed }: Total): string {
  const rest = missed === 0 ? '' : ` ${countOf(missed)} could not be: no longer there, or no room.`
  return `${countOf(changed)} ${DONE[action]}.${rest}`
}

function countOf(count: number): string {
  return count === 1 ? '1 letter' : `${formatCount(count)} letters`
}
