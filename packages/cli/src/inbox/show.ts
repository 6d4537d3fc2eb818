import type { Inbox } from '@ackhook/core'
import { type BrowsedEvent, type EventLookup, printable } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { parseTree, writeTree } from '../delivery/json-tree.ts'
import { table } from '../terminal/text.ts'
import type { DeadTarget } from './dead-letter-pages.ts'
import { findTarget, inNamespace } from './find-targets.ts'
import type { InboxFlags } from './inbox-flags.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

/** Shows one event, wherever it is: with its body unless it is handled, of which only the id is kept. */
export function show(id: string, flags: InboxFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const found = await findTarget(id, flags.namespace, inbox)
    const letter = 'target' in found ? await inbox.deadLetters.get(found.target.key) : undefined
    if (letter !== undefined) return showEvent('dead', letter, flags, terminal)
    if ('refusal' in found) {
      terminal.out(flags.json ? JSON.stringify({ state: null }) : `${printable(id)} is ${found.refusal}`)
      return EXIT.failed
    }
    const where = await inbox.lookup?.(found.target.key)
    if (where === undefined || where.state === 'unknown' || where.state === 'handled')
      return tellWithout(where, found.target, flags, parts, inbox)
    if (where.event !== undefined) return showEvent(where.state, where.event, flags, terminal)
    terminal.out(flags.json ? JSON.stringify(where) : `${printable(id)} is ${where.state}.`)
    return EXIT.ok
  })
}

function showEvent(
  state: 'pending' | 'active' | 'dead',
  event: BrowsedEvent,
  flags: InboxFlags,
  terminal: InboxParts['terminal'],
): number {
  const body = new TextDecoder().decode(event.body)
  if (flags.json) {
    const fields = { ...toJson(event), body }
    terminal.out(
      JSON.stringify({ state, ...(state === 'dead' ? { deadLetter: fields } : { event: fields }) }),
    )
    return EXIT.ok
  }
  for (const line of table(partsOf(state, event))) terminal.out(line)
  terminal.out(pretty(body))
  return EXIT.ok
}

/** Tells about an event of which there is nothing to show. */
function tellWithout(
  where: Exclude<EventLookup, { state: 'pending' | 'active' | 'dead' }> | undefined,
  { id, namespace }: DeadTarget,
  flags: InboxFlags,
  { terminal }: InboxParts,
  { cannotLookUp }: Inbox,
): number {
  const name = `${printable(id)}${inNamespace(namespace)}`
  if (where?.state === 'handled') {
    const { handledAt, rememberedUntil } = where
    const times = {
      ...(handledAt !== undefined && { handledAt: timeOf(handledAt) }),
      ...(rememberedUntil !== undefined && { rememberedUntil: timeOf(rememberedUntil) }),
    }
    const at = handledAt === undefined ? '' : ` at ${times.handledAt}`
    const until = rememberedUntil === undefined ? '' : ` Its id is remembered until ${times.rememberedUntil}.`
    terminal.out(
      flags.json
        ? JSON.stringify({ state: 'handled', ...times })
        : `${name} was handled${at}.${until} Its body is no longer kept.`,
    )
    return EXIT.ok
  }
  if (flags.json) terminal.out(JSON.stringify({ state: where?.state ?? null, deadLetter: null }))
  else if (where === undefined) {
    const why =
      cannotLookUp === undefined ? '' : ` Other events cannot be looked up: ${printable(cannotLookUp)}`
    terminal.out(`There is no dead letter ${name}.${why}`)
  } else {
    const hint = flags.namespace === undefined ? ' outside any namespace: for another, add --namespace' : ''
    terminal.out(
      `${name} is unknown${hint}. It never came, was discarded, or its id is no longer remembered.`,
    )
  }
  return EXIT.failed
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

function partsOf(state: string, event: BrowsedEvent): readonly (readonly string[])[] {
  const { namespace, attempts, reason, failedAt, dueInMs, trace } = event
  const [, traceId] = trace?.traceparent.split('-') ?? []
  return [
    ['id', printable(event.id)],
    ['state', state],
    ['type', printable(event.type)],
    ...(namespace === '' ? [] : [['namespace', printable(namespace)]]),
    ['received', timeOf(event.receivedAt)],
    ...(failedAt === undefined ? [] : [['failed', timeOf(failedAt)]]),
    ['attempts', String(attempts)],
    ...(dueInMs === undefined ? [] : [['next attempt', `in ${Math.ceil(dueInMs / 1000)} s`]]),
    ...(traceId === undefined ? [] : [['trace', printable(traceId)]]),
    ...(reason === undefined ? [] : [['reason', printable(reason)]]),
  ]
}

export function toJson({ key: _, ...letter }: BrowsedEvent): object {
  const { body: __, failedAt, ...fields } = letter
  return {
    ...fields,
    receivedAt: timeOf(letter.receivedAt),
    ...(failedAt !== undefined && { failedAt: timeOf(failedAt) }),
  }
}

/** Indents JSON, and keeps each digit. The body is untrusted, so control characters other than line ends are escaped. */
function pretty(body: string): string {
  let text = body
  try {
    text = writeTree(parseTree(body), { comma: ',', colon: ': ', indent: '  ' })
  } catch {
    // A body that is not JSON is shown unchanged.
  }
  return text.split('\n').map(printable).join('\n')
}
