import type { StatsView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { report } from '../lib/report.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { StatsFlags } from './delivery-flags.ts'
import { filterOf } from './filter-of.ts'

/** Prints how many deliveries were created over time, by what became of them. */
export function stats(_: readonly string[], flags: StatsFlags, terminal: Terminal): Promise<number> {
  const { buckets } = flags
  return withEmulator(flags, terminal, async emulator => {
    const view = await emulator.get<StatsView>('/stats', { ...filterOf(flags), buckets })
    const rows = view.buckets
      .filter(({ counts }) => Object.keys(counts).length > 0)
      .map(({ from, counts }) => [
        from,
        Object.entries(counts)
          .map(([state, count]) => `${count} ${state}`)
          .join(', '),
      ])
    const none = `No deliveries from ${view.from} to ${view.to}.`
    report(view, rows.length === 0 ? [none] : table(rows), flags, terminal)
    return EXIT.ok
  })
}
