import type { Inbox } from '@ackhook/core'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import { type DeadTarget, deadLetterPages } from './dead-letter-pages.ts'
import { type Found, findTargets, inNamespace, isDead, targetOf } from './find-targets.ts'
import type { ChangeFlags, InboxFlags } from './inbox-flags.ts'
import { Refusals } from './refusals.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

interface Change {
  readonly verb: 'redriven' | 'discarded' | 'forgotten'
  /** How many there are, as far as is known. */
  readonly total: number
  readonly apply: (key: string) => boolean | Promise<boolean>
  /** Why one was not changed. */
  readonly reasonOf: (target: DeadTarget) => string | Promise<string>
  readonly flags: InboxFlags
  readonly parts: InboxParts
}

/** As many share a commit or a round trip. */
const AT_ONCE = 32

export function redrive(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, async inbox =>
    change(targetsOf(ids, flags, inbox), {
      verb: 'redriven',
      total: await countOf(ids, flags, inbox),
      apply: key => inbox.deadLetters.redrive(key),
      reasonOf: async target =>
        (await isDead(target.key, inbox)) ? 'the inbox is full' : noDeadLetter(target),
      flags,
      parts,
    }),
  )
}

export function discard(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, async inbox => {
    const total = await countOf(ids, flags, inbox)
    if (!flags.yes && total > 0) {
      const sure = await parts.terminal.confirm(
        `Delete ${total === 1 ? '1 dead letter' : `${total} dead letters`} for good?`,
      )
      if (sure === undefined)
        throw new UsageError('discarding is for good: add --yes to do it without confirmation')
      if (!sure) return EXIT.failed
    }
    return change(targetsOf(ids, flags, inbox), {
      verb: 'discarded',
      total,
      apply: key => inbox.deadLetters.discard(key),
      reasonOf: noDeadLetter,
      flags,
      parts,
    })
  })
}

/** Releases the ids of handled events, so that a replay of them runs. */
export function forget(ids: readonly string[], flags: InboxFlags, parts: InboxParts): Promise<number> {
  return withInbox(flags, parts, inbox =>
    change(handledOf(ids, flags), {
      verb: 'forgotten',
      total: ids.length,
      apply: key => inbox.forget(key),
      reasonOf: async ({ key, namespace }) =>
        (await isDead(key, inbox))
          ? 'a dead letter, which a delivery runs again anyway'
          : `not remembered as handled${inNamespace(namespace)}`,
      flags,
      parts,
    }),
  )
}

function noDeadLetter({ namespace }: DeadTarget): string {
  return `no such dead letter${inNamespace(namespace)}`
}

function requireTargets(ids: readonly string[], { all }: ChangeFlags): void {
  if (ids.length > 0 === (all === true)) throw new UsageError('name the ids of events, or add --all')
}

async function countOf(
  ids: readonly string[],
  { all, namespace }: ChangeFlags,
  inbox: Inbox,
): Promise<number> {
  if (!all) return ids.length
  if (namespace === undefined) return (await inbox.stats()).dead
  let count = 0
  for await (const page of deadLetterPages(inbox, namespace)) count += page.length
  return count
}

async function* targetsOf(
  ids: readonly string[],
  { all, namespace }: ChangeFlags,
  inbox: Inbox,
): AsyncGenerator<readonly Found[]> {
  if (!all) {
    yield await findTargets(ids, namespace, inbox)
    return
  }
  for await (const page of deadLetterPages(inbox, namespace)) {
    yield page.map(target => ({ id: target.id, target }))
  }
}

async function* handledOf(
  ids: readonly string[],
  { namespace = '' }: InboxFlags,
): AsyncGenerator<readonly Found[]> {
  yield await Promise.all(ids.map(async id => ({ id, target: await targetOf(id, namespace) })))
}

/** Changes them page by page, until all are done or Ctrl-C. */
async function change(pages: AsyncIterable<readonly Found[]>, options: Change): Promise<number> {
  const { verb, total, apply, reasonOf, flags, parts } = options
  const { stop, progress } = parts.terminal
  const bar = progress(total, `${total} to be ${verb}`)
  const refusals = new Refusals()
  let done = 0

  async function changeOne(found: Found): Promise<void> {
    if ('refusal' in found) refusals.add(found.id, found.refusal)
    else if (await apply(found.target.key)) done++
    else refusals.add(found.id, await reasonOf(found.target))
    bar.advance()
  }

  for await (const page of pages) {
    for (let i = 0; i < page.length && !stop.aborted; i += AT_ONCE) {
      await Promise.all(page.slice(i, i + AT_ONCE).map(changeOne))
    }
    if (stop.aborted) break
  }
  bar.stop()
  const text = `${done} ${verb}${refusals.describe()}${stop.aborted ? ', stopped before the end' : ''}`
  parts.terminal.out(flags.json ? JSON.stringify({ [verb]: done, ...refusals.toJson() }) : text)
  return refusals.count === 0 && !stop.aborted ? EXIT.ok : EXIT.failed
}
