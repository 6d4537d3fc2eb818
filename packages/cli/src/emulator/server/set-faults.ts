import { EXIT } from '../../command/exit-codes.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { collectFault, type FaultFlags } from '../lib/shared-options.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { faultLines } from './show-faults.ts'

/** Replaces all faults by those that are named, from the next attempt on. */
export function setFaults(named: readonly string[], flags: PlaceFlags, terminal: Terminal): Promise<number> {
  const faults = named.reduce<FaultFlags>((before, text) => collectFault(text, before), {})
  return withEmulator(flags, terminal, async emulator => {
    const set = await emulator.put<FaultFlags>('/faults', faults)
    report(set, faultLines(set), flags, terminal)
    return EXIT.ok
  })
}
