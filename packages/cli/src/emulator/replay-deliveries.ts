import type { BulkResult, DeliveryView } from '@ackhook/emulator'
import { EXIT } from '../command/exit-codes.ts'
import { readData } from '../command/read-data.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { attempted, reportDeliveries } from './attempted.ts'
import { bulk } from './bulk.ts'
import { deliveryRow } from './describe-delivery.ts'
import type { EmulatorClient } from './emulator-client.ts'
import type { ReplayFlags } from './emulator-flags.ts'
import { filterOf } from './filter-of.ts'
import { toDeliveryId } from './to-delivery-id.ts'
import { withEmulator } from './with-emulator.ts'

/** Sends deliveries again: those that are named, or all that match. */
export function replayDeliveries(
  ids: readonly string[],
  flags: ReplayFlags,
  terminal: Terminal,
): Promise<number> {
  const filter = filterOf(flags)
  const isBulk = flags.all === true || Object.keys(filter).length > 0
  if (ids.length > 0 === isBulk) {
    throw new UsageError('name the ids of deliveries or events, or --all, or a filter such as --type')
  }
  if (isBulk && (flags.exact || flags.data !== undefined)) {
    throw new UsageError('--exact and --data are for deliveries that are named by their ids')
  }
  return withEmulator(flags, terminal, emulator =>
    isBulk ? replayAll(filter, flags, emulator, terminal) : replayEach(ids, flags, emulator, terminal),
  )
}

async function replayEach(
  ids: readonly string[],
  flags: ReplayFlags,
  emulator: EmulatorClient,
  terminal: Terminal,
): Promise<number> {
  const { exact, data, dryRun, wait, timeout, json } = flags
  const options = {
    ...(exact && { mode: 'exact' }),
    ...(data !== undefined && { mode: 'edited', data: readData(data, terminal.cwd) }),
  }
  const replayed: DeliveryView[] = []
  for (const id of ids) {
    const path = `/deliveries/${await toDeliveryId(id, emulator)}`
    const call = dryRun
      ? emulator.get<DeliveryView>(path)
      : emulator.post<DeliveryView>(`${path}/replay`, options)
    replayed.push(await call)
  }
  if (!dryRun && wait) {
    return reportDeliveries(await attempted(replayed, timeout, emulator, terminal), json, terminal)
  }
  if (json) terminal.out(JSON.stringify({ [dryRun ? 'matched' : 'replayed']: replayed.length }))
  else for (const one of replayed) terminal.out(deliveryRow(one).join('  '))
  return EXIT.ok
}

/** Without a state in the filter: what is undelivered. */
async function replayAll(
  filter: object,
  { dryRun, json }: ReplayFlags,
  emulator: EmulatorClient,
  terminal: Terminal,
): Promise<number> {
  const { matched } = await emulator.post<BulkResult>('/deliveries/replay', { filter, dryRun: true })
  const label = `Replaying ${matched} deliveries`
  const done = dryRun ? 0 : await bulk('replay', filter, { emulator, terminal, label, count: matched })
  if (json) terminal.out(JSON.stringify({ matched, replayed: done }))
  else terminal.out(dryRun ? `${matched} would be replayed` : `${done} replayed`)
  return dryRun || done >= matched ? EXIT.ok : EXIT.failed
}
