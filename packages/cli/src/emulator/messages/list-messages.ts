import type { MessageView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PageFlags } from '../lib/emulator-flags.ts'
import { pageOf } from '../lib/page-of.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { messageRow } from './describe-message.ts'

interface Page {
  readonly messages: readonly MessageView[]
  readonly next: string | null
}

/** Prints messages. */
export function listMessages(_: readonly string[], flags: PageFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const page = await emulator.get<Page>('/messages', pageOf(flags))
    const rows = table(page.messages.map(messageRow), terminal.columns)
    report(page, rows.length === 0 ? ['No messages.'] : rows, flags, terminal)
    const more = page.next !== null && !flags.json
    if (more) terminal.err(createPaint(terminal.colours).dim(`There are more: --after ${page.next}`))
    return EXIT.ok
  })
}
