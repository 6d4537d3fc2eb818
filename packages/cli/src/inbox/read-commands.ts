import type { DeadLetter } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { createPaint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'
import { table } from '../terminal/table.ts'
import type { InboxFlags, ListFlags } from './inbox-flags.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

export function list(flags: ListFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const letters = await inbox.deadLetters.list({
      limit: flags.limit,
      order: flags.order,
      ...(flags.after !== undefined && { after: flags.after }),
    })
    if (flags.json) {
      terminal.out(JSON.stringify({ deadLetters: letters.map(letter => toJson(letter)) }))
      return EXIT.ok
    }
    if (letters.length === 0) terminal.out('No dead letters.')
    const rows = letters.map(letter => [
      printable(letter.id),
      printable(letter.type),
      new Date(letter.failedAt).toISOString(),
      letter.attempts === 1 ? '1 attempt' : `${letter.attempts} attempts`,
      printable(letter.reason),
    ])
    for (const line of table(rows)) terminal.out(line)
    const cursor = letters.length === flags.limit ? letters.at(-1)?.cursor : undefined
    if (cursor !== undefined) terminal.err(`There may be more: add --after ${cursor}`)
    return EXIT.ok
  })
}

export function show(id: string, flags: InboxFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const letter = await inbox.deadLetters.get(await eventKey(flags.namespace, id))
    if (letter === undefined) {
      if (flags.json) terminal.out(JSON.stringify({ deadLetter: null }))
      else terminal.out(`There is no dead letter ${printable(id)}${inNamespace(flags)}.`)
      return EXIT.failed
    }
    const body = new TextDecoder().decode(letter.body)
    if (flags.json) {
      terminal.out(JSON.stringify({ deadLetter: { ...toJson(letter), body } }))
      return EXIT.ok
    }
    const { namespace, attempts, reason } = letter
    const rows = [
      ['id', printable(letter.id)],
      ['type', printable(letter.type)],
      ...(namespace === '' ? [] : [['namespace', printable(namespace)]]),
      ['received', new Date(letter.receivedAt).toISOString()],
      ['failed', new Date(letter.failedAt).toISOString()],
      ['attempts', String(attempts)],
      ['reason', printable(reason)],
    ]
    for (const line of table(rows)) terminal.out(line)
    terminal.out(pretty(body))
    return EXIT.ok
  })
}

export function stats(flags: InboxFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const counts = await inbox.stats()
    if (flags.json) {
      terminal.out(JSON.stringify(counts))
      return EXIT.ok
    }
    const { bad } = createPaint(terminal.colours)
    const rows = [
      ['waiting', String(counts.pending)],
      ['running', String(counts.active)],
      ['dead', String(counts.dead)],
      ['oldest', `${Math.round(counts.oldestPendingMs / 1000)} s`],
    ]
    for (const line of table(rows))
      terminal.out(line.startsWith('dead') && counts.dead > 0 ? bad(line) : line)
    return EXIT.ok
  })
}

function inNamespace({ namespace }: InboxFlags): string {
  return namespace === '' ? '' : ` in namespace ${printable(namespace)}`
}

function toJson({ body: _, key: __, ...letter }: DeadLetter): object {
  return {
    ...letter,
    receivedAt: new Date(letter.receivedAt).toISOString(),
    failedAt: new Date(letter.failedAt).toISOString(),
  }
}

/** Indented, if it is JSON. Untrusted: control characters other than line ends are escaped. */
function pretty(body: string): string {
  let text = body
  try {
    text = JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    // Not JSON: shown unchanged.
  }
  return text.split('\n').map(printable).join('\n')
}
