import type { Inbox } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import { printable } from '../terminal/printable.ts'
import { deadLetterPages } from './dead-letter-pages.ts'
import type { ChangeFlags, InboxFlags } from './inbox-flags.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

/** An event to change. */
interface Target {
  readonly key: string
  readonly id: string
}

interface Change {
  readonly verb: 'redriven' | 'discarded' | 'forgotten'
  /** Why one may not have been changed. */
  readonly otherwise: string
  /** How many there are, as far as is known. */
  readonly total: number
  readonly apply: (key: string) => boolean | Promise<boolean>
  readonly flags: InboxFlags
  readonly parts: InboxParts
}

/** As many share a commit or a round trip. */
const AT_ONCE = 32
/** Ids that were not changed, at most so many. */
const SHOWN_IDS = 20

export function redrive(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, async inbox =>
    change(targetsOf(ids, flags, inbox), {
      verb: 'redriven',
      otherwise: 'no longer dead letters, or the inbox is full',
      total: await countOf(ids, flags, inbox),
      apply: key => inbox.deadLetters.redrive(key),
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
      otherwise: 'no dead letters',
      total,
      apply: key => inbox.deadLetters.discard(key),
      flags,
      parts,
    })
  })
}

/** Releases the ids of handled events, so that a replay of them runs. */
export function forget(ids: readonly string[], flags: InboxFlags, parts: InboxParts): Promise<number> {
  return withInbox(flags, parts, inbox =>
    change(targetsOf(ids, flags, inbox), {
      verb: 'forgotten',
      otherwise: 'not remembered as handled',
      total: ids.length,
      apply: key => inbox.forget(key),
      flags,
      parts,
    }),
  )
}

function requireTargets(ids: readonly string[], { all }: ChangeFlags): void {
  if (ids.length > 0 === (all === true)) throw new UsageError('name the ids of events, or add --all')
}

async function countOf(ids: readonly string[], { all }: ChangeFlags, inbox: Inbox): Promise<number> {
  return all ? (await inbox.stats()).dead : ids.length
}

async function* targetsOf(
  ids: readonly string[],
  { all, namespace }: ChangeFlags,
  inbox: Inbox,
): AsyncGenerator<readonly Target[]> {
  if (all) yield* deadLetterPages(inbox)
  else yield await Promise.all(ids.map(async id => ({ id, key: await eventKey(namespace, id) })))
}

/** Changes them page by page, until all are done or Ctrl-C. */
async function change(pages: AsyncIterable<readonly Target[]>, options: Change): Promise<number> {
  const { verb, total, apply, flags, parts } = options
  const { stop, progress } = parts.terminal
  const bar = progress(total, `${total} to be ${verb}`)
  const missingIds: string[] = []
  let [done, missing] = [0, 0]

  async function changeOne({ key, id }: Target): Promise<void> {
    if (await apply(key)) done++
    else if (++missing <= SHOWN_IDS) missingIds.push(id)
    bar.advance()
  }

  for await (const page of pages) {
    for (let i = 0; i < page.length && !stop.aborted; i += AT_ONCE) {
      await Promise.all(page.slice(i, i + AT_ONCE).map(changeOne))
    }
    if (stop.aborted) break
  }
  bar.stop()
  const result = { [verb]: done, missing, missingIds }
  parts.terminal.out(flags.json ? JSON.stringify(result) : describe({ done, missing, missingIds }, options))
  return missing === 0 && !stop.aborted ? EXIT.ok : EXIT.failed
}

function describe(
  counts: { readonly done: number; readonly missing: number; readonly missingIds: readonly string[] },
  { verb, otherwise, parts }: Change,
): string {
  const { done, missing, missingIds } = counts
  const stopped = parts.terminal.stop.aborted ? ', stopped before the end' : ''
  if (missing === 0) return `${done} ${verb}${stopped}`
  const more = missing > missingIds.length ? ' …' : ''
  return `${done} ${verb}, ${missing} not (${otherwise}): ${printable(missingIds.join(' '))}${more}${stopped}`
}
