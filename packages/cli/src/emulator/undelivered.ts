import type { BulkResult } from '@ackhook/emulator'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { bulk } from './bulk.ts'
import type { EmulatorClient } from './emulator-client.ts'
import type { UndeliveredFlags } from './emulator-flags.ts'
import { filterOf } from './filter-of.ts'
import { printPage } from './list-deliveries.ts'
import { toDeliveryId } from './to-delivery-id.ts'
import { withEmulator } from './with-emulator.ts'

/** Prints what could not be delivered, or discards it. Something undelivered is exit code 1. */
export function undelivered(
  ids: readonly string[],
  flags: UndeliveredFlags,
  terminal: Terminal,
): Promise<number> {
  if (!flags.discard && (ids.length > 0 || flags.all)) {
    throw new UsageError('ids and --all are for --discard; ackhook emulator replay sends them again')
  }
  return withEmulator(flags, terminal, async emulator => {
    if (flags.discard) return discard(ids, flags, emulator, terminal)
    const shown = await printPage(emulator, '/undelivered', flags, terminal)
    return shown === 0 ? EXIT.ok : EXIT.failed
  })
}

async function discard(
  ids: readonly string[],
  flags: UndeliveredFlags,
  emulator: EmulatorClient,
  terminal: Terminal,
): Promise<number> {
  if (ids.length > 0 === (flags.all === true))
    throw new UsageError('name the ids of deliveries, or add --all')
  const filter = { ...filterOf(flags), state: 'undelivered' }
  const count = flags.all
    ? (await emulator.post<BulkResult>('/deliveries/discard', { filter, dryRun: true })).matched
    : ids.length
  if (!flags.yes && count > 0) {
    const sure = await terminal.confirm(`Discard ${count === 1 ? '1 delivery' : `${count} deliveries`}?`)
    if (sure === undefined) throw new UsageError('add --yes to discard without confirmation')
    if (!sure) return EXIT.failed
  }
  let done = 0
  if (flags.all) {
    done = await bulk('discard', filter, {
      emulator,
      terminal,
      label: `Discarding ${count} deliveries`,
      count,
    })
  }
  for (const id of ids) {
    await emulator.post(`/deliveries/${await toDeliveryId(id, emulator)}/discard`)
    done++
  }
  terminal.out(flags.json ? JSON.stringify({ discarded: done }) : `${done} discarded`)
  return EXIT.ok
}
