import type { DeliveryView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { createPaint } from '../../terminal/paint.ts'
import { table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EmulatorClient } from '../lib/emulator-client.ts'
import { pageOf } from '../lib/page-of.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import type { ListFlags } from './delivery-flags.ts'
import { deliveryRow } from './describe-delivery.ts'
import { filterOf } from './filter-of.ts'

interface Page {
  readonly deliveries: readonly DeliveryView[]
  readonly next: string | null
}

/** Prints the log. */
export function list(_: readonly string[], flags: ListFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    await printPage(emulator, '/deliveries', flags, terminal)
    return EXIT.ok
  })
}

/** Prints a page of deliveries, and answers how many it has. */
export async function printPage(
  emulator: EmulatorClient,
  path: string,
  flags: ListFlags,
  { out, err, colours, columns }: Terminal,
): Promise<number> {
  const page = await emulator.get<Page>(path, { ...filterOf(flags), ...pageOf(flags) })
  if (flags.json) out(JSON.stringify(page))
  else if (page.deliveries.length === 0) out('No deliveries.')
  else for (const line of table(page.deliveries.map(deliveryRow), columns)) out(line)
  if (!flags.json && page.next !== null) err(createPaint(colours).dim(`There are more: --after ${page.next}`))
  return page.deliveries.length
}
