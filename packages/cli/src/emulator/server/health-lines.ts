import { printable } from '@ackhook/core/spi'
import type { EmulatorHealth } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** Formats the number of deliveries in each state, and warnings. */
export function healthLines({ counts, warnings }: EmulatorHealth, { colors }: Terminal): readonly string[] {
  const { good, warn } = createPaint(colors)
  return [
    ...table(Object.entries(counts).map(([state, count]) => [state, String(count)])),
    '',
    ...(warnings.length === 0
      ? [`${good('✓')} nothing needs attention`]
      : warnings.map(text => warn(`! ${printable(text)}`))),
  ]
}
