import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { clockAhead } from '../lib/clock-ahead.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Moves the clock forward. What becomes due on the way is sent in its turn, and its replies are waited for. */
export function advanceClock(
  args: readonly string[],
  flags: PlaceFlags,
  terminal: Terminal,
): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const clock = await emulator.post<{ readonly now: string }>('/clock/advance', { by: args[0] })
    report(clock, [clock.now], flags, terminal)
    const ahead = clockAhead(clock.now)
    if (ahead !== undefined) terminal.err(ahead)
    return EXIT.ok
  })
}
