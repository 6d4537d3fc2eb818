import { printable } from '@ackhook/core/spi'
import { EXIT } from '../../command/exit-codes.ts'
import { readData } from '../../command/read-data.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { SendMessageFlags } from './message-flags.ts'

/** Calls `POST /v1/messages` as an app would, and prints the reply. */
export async function sendMessage(
  _: readonly string[],
  flags: SendMessageFlags,
  terminal: Terminal,
): Promise<number> {
  const { channel, to, template } = flags
  const variables =
    flags.variables === undefined ? undefined : await readData(flags.variables, terminal, '--variables')
  return withEmulator(flags, terminal, async emulator => {
    const { status, body } = await emulator.sendMessage({ channel, to, template, variables })
    report({ status, body }, [`${status} ${printable(JSON.stringify(body ?? null))}`], flags, terminal)
    return status >= 200 && status < 300 ? EXIT.ok : EXIT.failed
  })
}
