import type { StatsView } from '@ackhook/emulator'
import { table } from '../../terminal/table.ts'

/** How many deliveries were created over time, by what became of them. */
export function statsLines({ from, to, buckets }: StatsView): readonly string[] {
  const rows = buckets
    .filter(({ counts }) => Object.keys(counts).length > 0)
    .map(bucket => [
      bucket.from,
      Object.entries(bucket.counts)
        .map(([state, count]) => `${count} ${state}`)
        .join(', '),
    ])
  return rows.length === 0 ? [`No deliveries from ${from} to ${to}.`] : table(rows)
}
