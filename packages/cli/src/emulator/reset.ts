import { EXIT } from '../command/exit-codes.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { ResetFlags } from './emulator-flags.ts'
import { withEmulator } from './with-emulator.ts'

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
