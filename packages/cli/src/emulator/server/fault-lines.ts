import { table } from '../../terminal/table.ts'
import type { FaultFlags } from '../lib/shared-options.ts'

/** Formats the faults in force. */
export function faultLines(faults: FaultFlags): readonly string[] {
  const rows = Object.entries(faults).map(([name, value]) => [
    name,
    value === true ? 'always' : String(value),
  ])
  if (rows.length > 0) return table(rows)
  return ['No faults are set. To set one, for example:', '  npx ackhook emulator faults set duplicate=0.1']
}
