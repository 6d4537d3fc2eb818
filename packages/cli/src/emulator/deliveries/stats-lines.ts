import type { StatsView } from '@ackhook/emulator'
import { table } from '../../terminal/table.ts'

/** Formats the deliveries created over time, by state. */
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
