import type { Inbox } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import { printable } from '../terminal/printable.ts'
import { everyDeadLetter } from './every-dead-letter.ts'
import type { ChangeFlags } from './inbox-flags.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

/** A dead letter to change. */
interface Target {
  readonly key: string
  readonly id: string
}

export function redrive(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, inbox =>
    change(targetsOf(ids, flags, inbox), {
      verb: 'redriven',
      apply: key => inbox.deadLetters.redrive(key),
      flags,
      parts,
    }),
  )
}

export function discard(ids: readonly string[], flags: ChangeFlags, parts: InboxParts): Promise<number> {
  requireTargets(ids, flags)
  return withInbox(flags, parts, async inbox => {
    const count = flags.all ? (await inbox.stats()).dead : ids.length
    if (!flags.yes && count > 0) {
      const sure = await parts.terminal.confirm(
        `Delete ${count === 1 ? '1 dead letter' : `${count} dead letters`} for good?`,
      )
      if (sure === undefined)
        throw new UsageError('discarding is for good: add --yes to do it without confirmation')
      if (!sure) return EXIT.failed
    }
    return change(targetsOf(ids, flags, inbox), {
      verb: 'discarded',
      apply: key => inbox.deadLetters.discard(key),
      flags,
      parts,
    })
  })
}

function requireTargets(ids: readonly string[], { all }: ChangeFlags): void {
  if (ids.length > 0 === (all === true)) throw new UsageError('name the ids of events, or add --all')
}

async function* targetsOf(ids: readonly string[], flags: ChangeFlags, inbox: Inbox): AsyncGenerator<Target> {
  if (flags.all) yield* everyDeadLetter(inbox)
  for (const id of ids) yield { id, key: await eventKey(flags.namespace, id) }
}

interface Change {
  readonly verb: 'redriven' | 'discarded'
  readonly apply: (key: string) => boolean | Promise<boolean>
  readonly flags: ChangeFlags
  readonly parts: InboxParts
}

/** Changes one after the other. */
async function change(
  targets: AsyncIterable<Target>,
  { verb, apply, flags, parts }: Change,
): Promise<number> {
  const done: string[] = []
  const missing: string[] = []
  for await (const { key, id } of targets) (await apply(key)) ? done.push(id) : missing.push(id)
  const { out } = parts.terminal
  if (flags.json) out(JSON.stringify({ [verb]: done, missing }))
  else {
    out(
      `${done.length} ${verb}${missing.length === 0 ? '' : `, ${missing.length} not found: ${printable(missing.join(' '))}`}`,
    )
  }
  return missing.length === 0 ? EXIT.ok : EXIT.failed
}
