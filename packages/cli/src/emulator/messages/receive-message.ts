import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { type MessageEvent, messageEventLines } from './message-event-lines.ts'
import type { ReceiveMessageFlags } from './message-flags.ts'

/** Plays the message of a customer, and sends its event. */
export function receiveMessage(
  args: readonly string[],
  flags: ReceiveMessageFlags,
  terminal: Terminal,
): Promise<number> {
  const { from, channel, workspace } = flags
  return withEmulator(flags, terminal, async emulator => {
    const message = { from, channel, workspace, text: args[0] }
    const result = await emulator.post<MessageEvent>('/messages/inbound', message)
    report(result, messageEventLines(result), flags, terminal)
    return EXIT.ok
  })
}
