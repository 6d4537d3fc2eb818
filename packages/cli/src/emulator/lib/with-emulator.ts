import { printable } from '@ackhook/core/spi'
import { EXIT } from '../../command/exit-codes.ts'
import { UsageError } from '../../command/usage-error.ts'
import { createPaint } from '../../terminal/paint.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { EmulatorClient, EmulatorRefusal } from './emulator-client.ts'
import type { PlaceFlags } from './emulator-flags.ts'
import { NO_ENDPOINT } from './no-endpoint.ts'

/** Fields with another name on the command line. */
const TYPED_AS: Readonly<Record<string, string>> = { url: 'the address', by: 'the duration', to: '--until' }

/** Calls the emulator given by the flags. A refusal is exit code 1; a wrong field throws `UsageError`. */
export async function withEmulator(
  flags: PlaceFlags,
  terminal: Terminal,
  work: (emulator: EmulatorClient) => Promise<number>,
  typedAs: Readonly<Record<string, string>> = TYPED_AS,
): Promise<number> {
  try {
    return await work(new EmulatorClient(flags.at, terminal))
  } catch (error) {
    // Ctrl-C interrupted a call.
    if (terminal.stop.aborted) return EXIT.failed
    if (!(error instanceof EmulatorRefusal)) throw error
    if (error.status === 400) {
      const { field = '', message } = error
      const typed = message.startsWith(`${field} `) && typedAs[field]
      const text = typed ? typed + message.slice(field.length) : message
      throw new UsageError(text.replace('allowTargets', 'allowTargets (emulator start --allow-target)'), {
        cause: error,
      })
    }
    const message = error.message.endsWith('has no endpoint')
      ? `${error.message}. ${NO_ENDPOINT}`
      : error.message
    if (flags.json) terminal.err(JSON.stringify({ error: message }))
    else terminal.err(`${createPaint(terminal.colors).bad('Error:')} ${printable(message)}`)
    return EXIT.failed
  }
}
