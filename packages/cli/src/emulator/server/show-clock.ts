import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Prints the emulator's time. */
export function showClock(_: readonly string[], flags: PlaceFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const clock = await emulator.get<{ readonly now: string }>('/clock')
    report(clock, [clock.now], flags, terminal)
    return EXIT.ok
  })
}
