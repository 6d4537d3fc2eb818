import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { type MessageEvent, messageEventLines } from './message-event-lines.ts'

/** Makes a message sent, delivered, read or failed, and sends the event of that. */
export function advanceMessage(
  args: readonly string[],
  flags: PlaceFlags,
  terminal: Terminal,
): Promise<number> {
  const [id = '', to] = args
  return withEmulator(flags, terminal, async emulator => {
    const result = await emulator.post<MessageEvent>(`/messages/${encodeURIComponent(id)}/advance`, { to })
    report(result, messageEventLines(result), flags, terminal)
    return EXIT.ok
  })
}
