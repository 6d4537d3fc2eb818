import type { Inbox } from '@ackhook/core'
import type { Terminal } from '../terminal/terminal.ts'
import type { InboxFlags } from './inbox-command.ts'
import type { OpenInbox } from './open-inbox.ts'

export interface InboxParts {
  readonly terminal: Terminal
  readonly open: OpenInbox
}

const CLOSE_MS = 1000

/** Opens an inbox for one piece of work and closes it whatever happens. */
export async function withInbox(
  flags: InboxFlags,
  { terminal, open }: InboxParts,
  work: (inbox: Inbox) => Promise<number>,
): Promise<number> {
  const inbox = await open(flags, terminal.cwd)
  try {
    return await work(inbox)
  } finally {
    await inbox.close(CLOSE_MS)
  }
}
