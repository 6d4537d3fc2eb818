import type { BulkResult } from '@ackhook/emulator'
import { confirmed } from '../../command/confirmed.ts'
import { EXIT } from '../../command/exit-codes.ts'
import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EmulatorClient } from '../lib/emulator-client.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { bulk } from './bulk.ts'
import { counted } from './counted.ts'
import type { DiscardFlags } from './delivery-flags.ts'
import { filterOf } from './filter-of.ts'
import { toDeliveryId } from './to-delivery-id.ts'

/** Gives up pending or undelivered deliveries, by id or by filter. */
export function discard(ids: readonly string[], flags: DiscardFlags, terminal: Terminal): Promise<number> {
  const filter = filterOf(flags)
  const isBulk = flags.all === true || Object.keys(filter).length > 0
  if (ids.length > 0 === isBulk) {
    throw new UsageError('give delivery or event ids, --all, or a filter such as --type')
  }
  return withEmulator(flags, terminal, async emulator => {
    const found = isBulk ? await find(filter, emulator) : undefined
    const count = found?.matched ?? ids.length
    if (flags.dryRun) {
      terminal.out(flags.json ? JSON.stringify({ matched: count }) : `${count} would be discarded`)
      return EXIT.ok
    }
    if (count > 0 && !(await confirmed(`Discard ${counted(count)}?`, flags, terminal))) return EXIT.failed
    const label = `Discarding ${counted(count)}`
    const done =
      found !== undefined
        ? await bulk('discard', filter, { emulator, terminal, label, found })
        : await discardEach(ids, emulator)
    terminal.out(flags.json ? JSON.stringify({ discarded: done }) : `${done} discarded`)
    return EXIT.ok
  })
}

/** Counts undelivered deliveries, unless the filter has a state. */
function find(filter: object, emulator: EmulatorClient): Promise<BulkResult> {
  return emulator.post('/deliveries/discard', { filter, dryRun: true })
}

async function discardEach(ids: readonly string[], emulator: EmulatorClient): Promise<number> {
  for (const id of ids) await emulator.post(`/deliveries/${await toDeliveryId(id, emulator)}/discard`)
  return ids.length
}
