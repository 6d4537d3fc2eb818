import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { ListFlags } from './delivery-flags.ts'
import { printPage } from './list-deliveries.ts'

/** Prints what could not be delivered. Something undelivered is exit code 1. */
export function undelivered(_: readonly string[], flags: ListFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const shown = await printPage(emulator, '/undelivered', flags, terminal)
    return shown === 0 ? EXIT.ok : EXIT.failed
  })
}
