import type { Inbox } from '@ackhook/core'
import { Follower } from '../letters/follower.ts'
import { inLanes } from '../letters/in-lanes.ts'
import { changeLetters } from '../letters/letter-filter.ts'
import { pageOf, type View } from '../letters/list-letters.ts'
import { Refused } from '../protocol/refused.ts'
import { joined, type Part, type Words } from '../protocol/words.ts'
import { AT_ONCE, ChangeRun } from './change-run.ts'
import { countTargets } from './count-targets.ts'
import { count, flag, type Optional, optional, rate, text, texts } from './fields.ts'
import { FILTERS, filterWords, isFiltered, LETTER_FIELDS, type LetterArgs, queryOf } from './letter-fields.ts'
import { reportOf } from './report.ts'
import { isDead, matching, noLetter, type Read, type Target, withIds, withKeys } from './targets.ts'
import { type Call, defineVerb, type Plan, type Verb } from './verb.ts'

const MAX_IDS = 5000

interface ChangeArgs extends LetterArgs {
  readonly ids?: readonly string[] | undefined
  readonly keys?: readonly string[] | undefined
  readonly all?: boolean | undefined
  readonly dryRun?: boolean | undefined
  readonly after?: string | undefined
  readonly total?: number | undefined
  readonly rate?: number | undefined
  readonly noFollow?: boolean | undefined
}

const TARGETS = {
  ids: optional(texts('event ids', MAX_IDS, { isArgument: true })),
  ...LETTER_FIELDS,
  keys: optional(texts('keys of events', MAX_IDS, { isForPages: true })),
  all: optional(flag('every dead letter')),
  dryRun: optional(flag('only count the matches')),
  after: optional(text('continue a count that was cut', { isForPages: true })),
  total: optional(count('number of letters that a person has confirmed', { isForPages: true })),
} as const

const RATE: Optional<string, number> = optional(
  rate('redrive this many per second, or such as 600/m (default: no limit)'),
)
const NO_FOLLOW: Optional<boolean> = optional(
  flag('end once they are redriven, without waiting for the results'),
)

/** Runs dead letters again. */
export const redrive: Verb = defineVerb({
  name: 'redrive',
  summary: 'Run dead letters again, from attempt 1',
  effect: "Handlers run again, in the app's own processes",
  changes: 'something',
  runsHandlers: true,
  isForLetters: true,
  words: { label: 'Redrive', doing: 'Redriving', done: 'redriven', thing: 'letter' },
  fields: { ...TARGETS, rate: RATE, noFollow: NO_FOLLOW },
  check: requireTargets,
  takesTime: args => args.dryRun !== true && !(args.noFollow === true && isFew(args)),
  plan: call => plan(call, letters => ['Redrive ', ...letters, '?']),
  run: call =>
    change(call, {
      kind: 'redriven',
      verb: 'redrive',
      follows: call.args.noFollow !== true,
      reasonOf: async (target, inbox) =>
        (await isDead(inbox, target.key)) ? 'the inbox is full' : noLetter(target.namespace),
    }),
})

/** Deletes dead letters. */
export const discard: Verb = defineVerb({
  name: 'discard',
  summary: 'Delete dead letters for good',
  effect: 'Their bodies are deleted, and nothing brings them back',
  changes: 'for good',
  isForLetters: true,
  words: { label: 'Discard', doing: 'Discarding', done: 'discarded', thing: 'letter' },
  fields: TARGETS,
  check: requireTargets,
  takesTime: ({ dryRun }) => dryRun !== true,
  plan: call => plan(call, letters => ['Delete ', ...letters, ' for good?'], { asksAlways: true }),
  run: call =>
    change(call, {
      kind: 'discarded',
      verb: 'discard',
      follows: false,
      reasonOf: ({ namespace }) => noLetter(namespace),
    }),
})

/** Letters by their ids or keys are few and meant; any others are all that match. */
function isBulk({ ids, keys }: ChangeArgs): boolean {
  return (ids?.length ?? 0) === 0 && keys === undefined
}

/** Changed in one step. */
function isFew({ ids, keys }: ChangeArgs): boolean {
  const count = ids?.length || keys?.length || 0
  return count > 0 && count <= AT_ONCE
}

function requireTargets(args: ChangeArgs): void {
  const { all, type, error, group, olderThan, reason, text, id } = args
  const selects = all === true || (type ?? error ?? group ?? olderThan ?? reason ?? text ?? id) !== undefined
  if (isBulk(args) === selects) return
  const filters = joined(
    FILTERS.map(field => [{ field }]),
    ', ',
  )
  throw new Refused('invalid', ['give event ids, ', { field: 'all' }, ', or a filter: ', ...filters])
}

/** Asks before letters are read. Those that fail while the question waits stay as they are. */
async function plan(
  { args, inbox }: Call<ChangeArgs>,
  question: (letters: readonly Part[]) => Words,
  { asksAlways = false }: { readonly asksAlways?: boolean } = {},
): Promise<Plan<ChangeArgs>> {
  if (args.dryRun === true) return { args }
  const { ids, keys } = args
  if (!isBulk(args)) {
    const total = ids?.length || keys?.length || 0
    const asked = asksAlways && total > 0
    return { args: { total, ...args }, ...(asked && { question: question([lettersOf(total)]) }) }
  }
  const { dead } = await inbox.stats()
  const [newest] = await pageOf(inbox, { state: 'dead' }, 1)
  const { failedBy = newest?.failedAt } = await queryOf(args, { inbox })
  const letters: readonly Part[] = isFiltered(args)
    ? [`those of ${lettersOf(dead)} that match `, ...filterWords(args)]
    : [lettersOf(dead)]
  const { olderThan: _, ...others } = args
  const bound = { ...others, total: args.total ?? dead, ...(failedBy !== undefined && { failedBy }) }
  return { args: bound, ...(dead > 0 && { question: question(letters) }) }
}

function lettersOf(count: number): string {
  return count === 1 ? '1 dead letter' : `${count} dead letters`
}

interface LetterChange {
  readonly kind: 'redriven' | 'discarded'
  readonly verb: 'redrive' | 'discard'
  readonly follows: boolean
  readonly reasonOf: (target: Target, inbox: Inbox) => Words | Promise<Words>
}

async function change(call: Call<ChangeArgs>, how: LetterChange) {
  const { args, inbox, caller } = call
  const view = { inbox, redact: caller.redact }
  const read = await readerOf(args, view)
  if (args.dryRun === true) return countTargets(call, read, `would be ${how.kind}`, args.after)
  const run = new ChangeRun(call, {
    read,
    kind: how.kind,
    total: args.total,
    rate: args.rate,
    apply: keys => changeLetters(inbox.deadLetters, how.verb, keys),
    reasonOf: target => how.reasonOf(target, inbox),
    unchanged: async targets => {
      const found = await inLanes(targets, async ({ key }) => (await inbox.deadLetters.get(key))?.failedAt)
      return targets.filter(({ failedAt }, i) => found[i] === failedAt)
    },
    follower: how.follows
      ? new Follower(inbox, (reason, { id, type, namespace }) =>
          caller.redact(reason, { id, type, namespace }),
        )
      : undefined,
  })
  await run.run()
  return reportOf(run, how.kind)
}

async function readerOf(args: ChangeArgs, view: View): Promise<Read> {
  const { ids, keys, namespace, failedBy } = args
  if (keys !== undefined) return withKeys(view, keys, failedBy)
  if (!isBulk(args)) return withIds(view, ids ?? [], namespace)
  return matching(view, await queryOf(args, view))
}
