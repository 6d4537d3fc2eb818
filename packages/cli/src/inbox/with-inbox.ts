import type { Inbox } from '@ackhook/core'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { InboxFlags } from './inbox-flags.ts'
import type { OpenInbox } from './open-inbox.ts'

export interface InboxParts {
  readonly terminal: Terminal
  readonly open: OpenInbox
}

const CLOSE_MS = 1000

/** Opens an inbox for one piece of work, and always closes it. */
export async function withInbox(
  flags: InboxFlags,
  { terminal, open }: InboxParts,
  work: (inbox: Inbox) => Promise<number>,
): Promise<number> {
  const inbox = await open(flags, terminal.cwd)
  try {
    return await work(inbox)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`the inbox does not work: ${reason}. Is it the right ${placeOf(flags)}?`, { cause })
  } finally {
    await inbox.close(CLOSE_MS)
  }
}

/** Without the address, which may hold a password. */
function placeOf({ sqlite }: InboxFlags): string {
  return sqlite === undefined ? 'address, and does its server run' : 'file'
}
