import { EXIT } from '../../command/exit-codes.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import type { FaultFlags } from '../lib/shared-options.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Prints the faults that are set. */
export function showFaults(_: readonly string[], flags: PlaceFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const faults = await emulator.get<FaultFlags>('/faults')
    report(faults, faultLines(faults), flags, terminal)
    return EXIT.ok
  })
}

/** What goes wrong on purpose, as lines. */
export function faultLines(faults: FaultFlags): readonly string[] {
  const rows = Object.entries(faults).map(([name, value]) => [
    name,
    value === true ? 'always' : String(value),
  ])
  if (rows.length > 0) return table(rows)
  return [
    'Nothing goes wrong on purpose. To change that, for example:',
    '  npx ackhook emulator faults set duplicate=0.1',
  ]
}
