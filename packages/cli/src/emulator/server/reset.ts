import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { ResetFlags } from './server-flags.ts'

/** Empties the log of the emulator. */
export function reset(_: readonly string[], flags: ResetFlags, terminal: Terminal): Promise<number> {
  const { everything = false, json } = flags
  return withEmulator(flags, terminal, async emulator => {
    await emulator.post('/reset', { everything })
    const what = everything ? 'Everything is as it was at the start.' : 'The log is empty.'
    terminal.out(json ? JSON.stringify({ reset: true, everything }) : what)
    return EXIT.ok
  })
}
