import { type Erased, eraseEvents } from '@ackhook/core/privacy'
import { printable } from '@ackhook/core/spi'
import { confirmed } from '../command/confirmed.ts'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { InboxFlags } from './inbox-flags.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

export interface EraseFlags extends InboxFlags {
  /** `path=value`, all of which must match. */
  readonly where?: readonly string[]
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** Counts the matching events, asks, and deletes those that wait or are dead. */
export function erase(flags: EraseFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  const where = whereOf(flags.where ?? [])
  const options = { where, namespace: flags.namespace, signal: terminal.stop }
  return withInbox(flags, parts, async inbox => {
    const found = await eraseEvents(inbox, { ...options, dryRun: true })
    if (flags.dryRun || found.dead + found.waiting === 0) return report(found, flags, parts, 'match')
    const letters = `${found.dead} dead letters and ${found.waiting} waiting events`
    if (!(await confirmed(`Delete ${letters} for good? They will not be handled.`, flags, terminal)))
      return EXIT.failed
    return report(await eraseEvents(inbox, options), flags, parts, 'deleted')
  })
}

function whereOf(conditions: readonly string[]): Readonly<Record<string, string>> {
  if (conditions.length === 0)
    throw new UsageError('give --where <path=value>, such as --where data.contact_id=ct_1')
  return Object.fromEntries(
    conditions.map(condition => {
      const at = condition.indexOf('=')
      if (at > 0) return [condition.slice(0, at), condition.slice(at + 1)]
      throw new UsageError(`--where ${printable(condition)} must be path=value, such as data.contact_id=ct_1`)
    }),
  )
}

/** Fails if some of it is left: running events, and those that nobody can read here. */
function report(found: Erased, { json }: InboxFlags, { terminal }: InboxParts, verb: string): number {
  const { scanned, dead, waiting, running, unreadable } = found
  if (json) terminal.out(JSON.stringify(found))
  else {
    terminal.out(`${dead} dead letters and ${waiting} waiting events ${verb}, of ${scanned} events`)
    if (running > 0)
      terminal.err(`${running} that match are running, and stay: repeat the command once they have ended`)
    if (unreadable > 0)
      terminal.err(
        `${unreadable} cannot be read, such as sealed ones: call eraseEvents in the app, which has the key`,
      )
  }
  return running + unreadable === 0 ? EXIT.ok : EXIT.failed
}
