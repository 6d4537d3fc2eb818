import { signal } from '@preact/signals'
import type {
  ChangeReport,
  ChangeRequest,
  LetterFilter,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { confirm } from '../kit/confirm.tsx'
import { formatCount } from '../kit/format-count.ts'
import { attempt, toast } from '../kit/toasts.tsx'

export type Change = 'redrive' | 'discard'

const PAGE = 200
const DONE = { redrive: 'redriven', discard: 'discarded' } as const
const TITLE = { redrive: 'Redrive', discard: 'Discard' } as const
const WHAT = {
  redrive: 'They run again in the processes of your app, from attempt 1.',
  discard: 'They are deleted for good, with their bodies.',
} as const

/** What is under way, for the line that every page shows. */
export interface Running {
  readonly title: string
  readonly done: number
  /** Undefined while it is counted. */
  readonly total: number | undefined
  readonly stop: () => void
}

export const running = signal<Running | undefined>(undefined)

/** Asks, then changes the letters with these keys. Returns whether any was. */
export async function changeLetters(action: Change, keys: readonly string[]): Promise<boolean> {
  if (!(await isSure(action, `${TITLE[action]} ${countOf(keys.length)}?`, keys.length))) return false
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
  if (!(await isSure(action, `${TITLE[action]} all ${countOf(count)}${which}?`, count))) return false
  return change(action, count, work => eachPage(action, { matching }, work))
}

/** Redrives one letter without a summary: its page says what became of it. */
export async function redriveOne(key: string): Promise<boolean> {
  if (!(await isSure('redrive', `${TITLE.redrive} ${countOf(1)}?`, 1))) return false
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
  return confirm(title, WHAT[action], `${TITLE[action]} ${countOf(count)}`, action === 'discard' || count > 1)
}

interface Work {
  readonly signal: AbortSignal
  readonly report: (page: ChangeReport) => void
}

/** Runs one piece of work at a time, with its progress. */
async function run(
  title: string,
  total: number | undefined,
  work: (parts: Work) => Promise<void>,
): Promise<Total> {
  if (running.peek() !== undefined) throw new Error('Another change of letters is under way.')
  const sum = { changed: 0, missed: 0, isStopped: false }
  const abort = new AbortController()
  const show = () => {
    running.value = { title, done: sum.changed + sum.missed, total, stop: () => abort.abort() }
  }
  show()
  try {
    await work({
      signal: abort.signal,
      report(page) {
        sum.changed += page.changed
        sum.missed += page.missed
        show()
      },
    })
  } finally {
    running.value = undefined
  }
  return { ...sum, isStopped: abort.signal.aborted }
}

function change(action: Change, count: number, work: (parts: Work) => Promise<void>): Promise<boolean> {
  const title = `${TITLE[action]} ${countOf(count)}`
  return attempt(async () => summary(action, await run(title, count, work)))
}

/** `undefined` when they could not be counted, which is said, or it was stopped. */
async function countMatching(action: Change, matching: LetterFilter): Promise<number | undefined> {
  try {
    const { changed, isStopped } = await run('Counting letters', undefined, work =>
      eachPage(action, { matching, dryRun: true }, work),
    )
    return isStopped ? undefined : changed
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return undefined
  }
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

interface Total {
  readonly changed: number
  readonly missed: number
  readonly isStopped: boolean
}

function post(action: Change, body: ChangeRequest): Promise<ChangeReport> {
  return call(`api/letters/${action}`, { method: 'POST', body })
}

function summary(action: Change, { changed, missed, isStopped }: Total): string {
  const rest = missed === 0 ? '' : ` ${countOf(missed)} could not be: no longer there, or no room.`
  return `${countOf(changed)} ${DONE[action]}${isStopped ? ', then stopped' : ''}.${rest}`
}

function countOf(count: number): string {
  return count === 1 ? '1 letter' : `${formatCount(count)} letters`
}
