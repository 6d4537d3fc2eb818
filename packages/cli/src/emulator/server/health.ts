import { printable } from '@ackhook/core/spi'
import type { EmulatorHealth } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { PlaceFlags } from '../lib/emulator-flags.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'

/** Prints how many deliveries are in each state, and what needs attention. A warning is exit code 1. */
export function health(_: readonly string[], flags: PlaceFlags, terminal: Terminal): Promise<number> {
  const { good, warn } = createPaint(terminal.colours)
  return withEmulator(flags, terminal, async emulator => {
    const view = await emulator.get<EmulatorHealth>('/health')
    const warnings = view.warnings.map(text => warn(`! ${printable(text)}`))
    const lines = [
      ...table(Object.entries(view.counts).map(([state, count]) => [state, String(count)])),
      '',
      ...(warnings.length === 0 ? [`${good('✓')} nothing needs attention`] : warnings),
    ]
    report(view, lines, flags, terminal)
    return warnings.length === 0 ? EXIT.ok : EXIT.failed
  })
}
