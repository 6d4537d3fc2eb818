import type { Inbox } from '@ackhook/core'
import { groupOf, printable } from '@ackhook/core/spi'
import { changeLetters, Follower } from '@ackhook/dashboard/letters'
import { confirmed } from '../command/confirmed.ts'
import { EXIT } from '../command/exit-codes.ts'
import { Pace } from '../command/pace.ts'
import { UsageError } from '../command/usage-error.ts'
import { type DeadTarget, deadLetterPages, newestDeadLetter } from './dead-letter-pages.ts'
import { checkFilter, failedByOf, isFiltered } from './filter.ts'
import { type Found, findTargets, inNamespace, isDead, targetOf } from './find-targets.ts'
import { type Followed, follow, linesOfFollowed } from './follow.ts'
import type { ChangeFlags, InboxFlags } from './inbox-flags.ts'
import { Refusals } from './refusals.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

interface Change {
  readonly verb: 'redriven' | 'discarded' | 'forgotten'
  /** Expected number of letters. */
  readonly total: number
  /** Changes letters and returns the keys of those that changed. */
  readonly apply: (keys: readonly string[]) => Promise<readonly string[]>
  /** Returns the reason why a letter was not changed. */
  readonly reasonOf: (target: DeadTarget) => string | Promise<string>
  /** Letters per second. Absent: no limit. */
  readonly rate?: number | undefined
  /** Follows the changed letters to their end. Absent: they have no later end. */
  readonly follower?: Follower | undefined
  readonly flags: InboxFlags
  readonly parts: InboxParts
  readonly inbox: Inbox
}

/** Number of letters that share a commit or a round trip. With a rate, one by one: none begins early. */
const AT_ONCE = 100

export function redrive(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  return changeLettersOf(ids, flags, parts, {
    change: 'redrive',
    question: letters => `Redrive ${letters}?`,
    reasonOf: async (target, inbox) =>
      (await isDead(target.key, inbox)) ? 'the inbox is full' : noDeadLetter(target),
  })
}

export function discard(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  return changeLettersOf(ids, flags, parts, {
    change: 'discard',
    question: letters => `Delete ${letters} for good?`,
    reasonOf: noDeadLetter,
  })
}

interface LetterChange {
  readonly change: 'redrive' | 'discard'
  readonly question: (letters: string) => string
  readonly reasonOf: (target: DeadTarget, inbox: Inbox) => string | Promise<string>
}

const PAST = { redrive: 'redriven', discard: 'discarded' } as const

/** Prompts for confirmation before it deletes letters or changes letters not given by id. */
function changeLettersOf(
  ids: readonly string[],
  flags: ChangeFlags,
  parts: InboxParts,
  { change: action, question, reasonOf }: LetterChange,
): Promise<number> {
  const isBulk = requireTargets(ids, flags)
  return withInbox(flags, parts, async inbox => {
    const targets = (failedBy: number | undefined): AsyncIterable<readonly Found[]> =>
      isBulk ? matching(flags, failedBy, inbox) : named(ids, flags, inbox)
    if (flags.dryRun)
      return countOnly(targets(await failedByOf(flags, inbox)), `would be ${PAST[action]}`, {
        flags,
        parts,
        inbox,
      })
    // Asks before it reads the letters. Those that fail while the question waits stay as they are.
    const [total, newestAt] = isBulk ? await extentOf(inbox) : [ids.length]
    const failedBy = (await failedByOf(flags, inbox)) ?? newestAt
    const isAsked = total > 0 && (isBulk || action === 'discard')
    if (isAsked && !(await confirmed(question(targetsOf(total, isBulk, flags)), flags, parts.terminal)))
      return EXIT.failed
    return change(targets(failedBy), {
      verb: PAST[action],
      total,
      apply: keys => changeLetters(inbox.deadLetters, action, keys),
      reasonOf: target => reasonOf(target, inbox),
      rate: flags.rate,
      ...(action === 'redrive' && flags.follow && { follower: new Follower(inbox) }),
      flags,
      parts,
      inbox,
    })
  })
}

/** Prints how many letters a command would change. Fails if one of those given by id does not exist. */
async function countOnly(
  pages: AsyncIterable<readonly Found[]>,
  would: string,
  { flags, parts, inbox }: Pick<Change, 'flags' | 'parts' | 'inbox'>,
): Promise<number> {
  const { stop, out } = parts.terminal
  const refusals = new Refusals()
  let matched = 0
  for await (const page of pages) {
    for (const found of page) {
      if ('refusal' in found) refusals.add(found.id, found.refusal)
      // A listed letter has its type; one given by id is looked up.
      else if (found.target.type !== undefined || (await isDead(found.target.key, inbox))) matched++
      else refusals.add(found.id, noDeadLetter(found.target))
    }
    if (stop.aborted) break
  }
  if (flags.json) out(JSON.stringify({ matched, ...refusals.toJson() }))
  else out(`${matched} ${would}${refusals.describe()}${stop.aborted ? ', stopped before the end' : ''}`)
  return refusals.count === 0 && !stop.aborted ? EXIT.ok : EXIT.failed
}

/** Returns the number of dead letters, and the time of the newest one. */
async function extentOf(inbox: Inbox): Promise<readonly [number, number | undefined]> {
  const { dead } = await inbox.stats()
  return [dead, (await newestDeadLetter(inbox))?.failedAt]
}

/** Names the filter, as only reading all letters would tell how many match. */
function targetsOf(total: number, isBulk: boolean, flags: ChangeFlags): string {
  const letters = total === 1 ? '1 dead letter' : `${total} dead letters`
  if (!isBulk || !isFiltered(flags)) return letters
  const { type, error, group, namespace, olderThan } = flags
  const filters = Object.entries({ type, error, group, namespace, 'older-than': olderThan }).filter(
    ([, value]) => value !== undefined,
  )
  const words = filters.map(([name, value]) => `--${name} ${printable(value ?? '')}`).join(' ')
  return `those of ${letters} that match ${words}`
}

/** Releases the ids of handled events, so that a replay of them runs. */
export function forget(ids: readonly string[], flags: InboxFlags, parts: InboxParts): Promise<number> {
  return withInbox(flags, parts, inbox =>
    change(handledOf(ids, flags), {
      verb: 'forgotten',
      total: ids.length,
      apply: async keys => {
        const forgotten = await Promise.all(keys.map(key => inbox.forget(key)))
        return keys.filter((_, i) => forgotten[i])
      },
      reasonOf: async ({ key, namespace }) =>
        (await isDead(key, inbox))
          ? 'a dead letter, which runs again at its next delivery anyway'
          : `not remembered as handled${inNamespace(namespace)}`,
      flags,
      parts,
      inbox,
    }),
  )
}

function noDeadLetter({ namespace }: DeadTarget): string {
  return `no such dead letter${inNamespace(namespace)}`
}

/** Returns whether the command changes all matching letters instead of those given by id. */
function requireTargets(ids: readonly string[], flags: ChangeFlags): boolean {
  checkFilter(flags)
  const isBulk =
    flags.all === true || (flags.type ?? flags.error ?? flags.group ?? flags.olderThan) !== undefined
  if (ids.length > 0 === isBulk)
    throw new UsageError('give event ids, --all, or a filter: --type, --error, --group or --older-than')
  return isBulk
}

async function* named(
  ids: readonly string[],
  { namespace }: ChangeFlags,
  inbox: Inbox,
): AsyncGenerator<readonly Found[]> {
  yield await findTargets(ids, namespace, inbox)
}

async function* matching(
  flags: ChangeFlags,
  failedBy: number | undefined,
  inbox: Inbox,
): AsyncGenerator<readonly Found[]> {
  for await (const page of deadLetterPages(inbox, { ...flags, failedBy })) {
    yield page.map(target => ({ id: target.id, target }))
  }
}

async function* handledOf(
  ids: readonly string[],
  { namespace = '' }: InboxFlags,
): AsyncGenerator<readonly Found[]> {
  yield await Promise.all(ids.map(async id => ({ id, target: await targetOf(id, namespace) })))
}

/** Changes letters page by page, until all are done or Ctrl-C. */
async function change(pages: AsyncIterable<readonly Found[]>, options: Change): Promise<number> {
  const { verb, total, apply, reasonOf, rate, parts, follower } = options
  const { stop, progress } = parts.terminal
  const bar = progress(total, `${total} to be ${verb}`)
  const refusals = new Refusals()
  const atOnce = rate === undefined ? AT_ONCE : 1
  const pace = new Pace(rate, stop)
  let begun = 0
  let done = 0

  async function changeSome(some: readonly Found[]): Promise<void> {
    const keys = some.flatMap(found => ('target' in found ? found.target.key : []))
    const groups = follower === undefined ? new Map() : await groupsOf(some, options.inbox)
    const changed = new Set(keys.length === 0 ? [] : await apply(keys))
    for (const found of some) {
      if ('refusal' in found) refusals.add(found.id, found.refusal)
      else if (changed.has(found.target.key)) {
        done++
        follower?.add([{ key: found.target.key, group: groups.get(found.target.key) }])
      } else refusals.add(found.id, await reasonOf(found.target))
      bar.advance()
    }
  }

  for await (const page of pages) {
    for (let i = 0; i < page.length && !stop.aborted; i += atOnce) {
      await pace.reach(begun++)
      if (!stop.aborted) await changeSome(page.slice(i, i + atOnce))
    }
    if (stop.aborted) break
  }
  bar.stop()
  const followed =
    follower === undefined || done === 0 || stop.aborted
      ? undefined
      : await follow(follower, options.inbox, parts.terminal)
  return report({ done, isStopped: stop.aborted && followed === undefined, refusals, followed }, options)
}

interface Changed {
  readonly done: number
  readonly isStopped: boolean
  readonly refusals: Refusals
  readonly followed: Followed | undefined
}

/** Prints what was changed, and what became of it. Fails if a letter was refused, or failed again. */
function report({ done, isStopped, refusals, followed }: Changed, { verb, flags, parts }: Change): number {
  const { out } = parts.terminal
  if (flags.json) {
    out(JSON.stringify({ [verb]: done, ...refusals.toJson(), ...followed }))
  } else {
    if (followed === undefined || refusals.count > 0)
      out(`${done} ${verb}${refusals.describe()}${isStopped ? ', stopped before the end' : ''}`)
    if (followed !== undefined) for (const line of linesOfFollowed(done, followed)) out(line)
  }
  const { failed = 0, retrying = 0 } = followed?.outcome ?? {}
  return refusals.count + failed + retrying === 0 && !isStopped ? EXIT.ok : EXIT.failed
}

/** Returns the groups of letters before they are redriven, by key: a listed letter has its error, one given by id is read. */
async function groupsOf(some: readonly Found[], inbox: Inbox): Promise<ReadonlyMap<string, string>> {
  const groups = await Promise.all(
    some.map(async found => {
      if ('refusal' in found) return []
      const { key, type, reason } = found.target
      const known =
        type === undefined || reason === undefined ? await inbox.deadLetters.get(key) : found.target
      if (known === undefined) return []
      const { id, type: knownType = '', reason: knownReason = '', group } = known
      const letter = { id, type: knownType, reason: knownReason, ...(group !== undefined && { group }) }
      return [[key, groupOf(letter)] as const]
    }),
  )
  return new Map(groups.flat())
}
