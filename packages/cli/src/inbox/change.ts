import { type DeadLetterStore, eventKey } from '@ackhook/core'
import { EXIT } from '../exit-codes.ts'
import { printable } from '../terminal/printable.ts'
import { UsageError } from '../usage-error.ts'
import type { ChangeFlags } from './inbox-command.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

/** What to change, by the inbox's key. */
interface Target {
  readonly key: string
  readonly id: string
}

const PAGE = 1000

export function redrive(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, async ({ deadLetters }) =>
    change(deadLetters, await targetsOf(ids, flags, deadLetters), {
      verb: 'redriven',
      apply: key => deadLetters.redrive(key),
      flags,
      parts,
    }),
  )
}

export function discard(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, async ({ deadLetters }) => {
    const targets = await targetsOf(ids, flags, deadLetters)
    if (!flags.yes && targets.length > 0) {
      const sure = await parts.terminal.confirm(
        `Forget ${targets.length === 1 ? '1 dead letter' : `${targets.length} dead letters`} for good?`,
      )
      if (sure === undefined)
        throw new UsageError('discarding is for good: add --yes to do it without a question')
      if (!sure) return EXIT.failed
    }
    return change(deadLetters, targets, {
      verb: 'discarded',
      apply: key => deadLetters.discard(key),
      flags,
      parts,
    })
  })
}

function requireTargets(ids: readonly string[], { all }: ChangeFlags): void {
  if (ids.length > 0 === (all === true)) throw new UsageError('name the ids of events, or say --all')
}

async function targetsOf(
  ids: readonly string[],
  flags: ChangeFlags,
  deadLetters: DeadLetterStore,
): Promise<readonly Target[]> {
  if (flags.all) return deadLetters.list({ limit: PAGE })
  return Promise.all(ids.map(async id => ({ id, key: await eventKey(flags.namespace, id) })))
}

interface Change {
  readonly verb: 'redriven' | 'discarded'
  readonly apply: (key: string) => boolean | Promise<boolean>
  readonly flags: ChangeFlags
  readonly parts: InboxParts
}

/** One after the other, page by page where `--all` meets more than one page. */
async function change(deadLetters: DeadLetterStore, first: readonly Target[], how: Change): Promise<number> {
  const { verb, apply, flags, parts } = how
  const done: string[] = []
  const missing: string[] = []
  let targets = first
  while (targets.length > 0) {
    const before = done.length
    for (const { key, id } of targets) (await apply(key)) ? done.push(id) : missing.push(id)
    const more = flags.all === true && targets.length === PAGE && done.length > before
    targets = more ? await deadLetters.list({ limit: PAGE }) : []
  }
  const { out } = parts.terminal
  if (flags.json) out(JSON.stringify({ [verb]: done, missing }))
  else {
    out(
      `${done.length} ${verb}${missing.length === 0 ? '' : `, ${missing.length} not found: ${printable(missing.join(' '))}`}`,
    )
  }
  return missing.length === 0 ? EXIT.ok : EXIT.failed
}
