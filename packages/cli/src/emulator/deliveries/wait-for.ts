import type { WaitResult } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { WaitFlags } from './delivery-flags.ts'
import { deliveryRow } from './describe-delivery.ts'
import { filterOf } from './filter-of.ts'

/** Waits for events, or until nothing is pending. Exit code 1 when the time is up. */
export function waitFor(_: readonly string[], flags: WaitFlags, terminal: Terminal): Promise<number> {
  const { count, idle, timeout, json } = flags
  return withEmulator(flags, terminal, async emulator => {
    const result = await emulator.post<WaitResult>('/wait', { ...filterOf(flags), count, idle, timeout })
    if (json) terminal.out(JSON.stringify(result))
    else for (const line of describe(result, flags, terminal)) terminal.out(line)
    return result.met ? EXIT.ok : EXIT.failed
  })
}

function describe(result: WaitResult, flags: WaitFlags, { colours, columns }: Terminal): readonly string[] {
  const { met, count, deliveries } = result
  const { good, bad } = createPaint(colours)
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
