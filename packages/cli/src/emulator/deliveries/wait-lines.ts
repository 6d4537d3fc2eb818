import type { WaitResult } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Typed } from '../lib/call-verb.ts'
import type { WaitFlags } from './delivery-flags.ts'
import { deliveryRow } from './describe-delivery.ts'
import { filterOf } from './filter-of.ts'

/** Formats the result of a wait. */
export function waitLines(
  { met, count, deliveries }: WaitResult,
  { flags, terminal: { colors, columns } }: Typed<WaitFlags>,
): readonly string[] {
  const { good, bad } = createPaint(colors)
  const mark = met ? good('✓') : bad('✗')
  const isIdle =
    flags.idle === true || (flags.count === undefined && Object.keys(filterOf(flags)).length === 0)
  const found = count === 1 ? '1 event matches' : `${count} events match`
  const state = isIdle ? `${met ? 'nothing' : 'something'} is pending` : found
  return [
    `${mark} ${state}${met ? '' : ` after ${flags.timeout}`}`,
    ...table(deliveries.map(deliveryRow), columns),
  ]
}
