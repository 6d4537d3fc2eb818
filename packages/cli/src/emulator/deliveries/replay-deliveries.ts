import type { BulkResult, DeliveryView } from '@ackhook/emulator'
import { EXIT } from '../../command/exit-codes.ts'
import { readText } from '../../command/read-text.ts'
import { UsageError } from '../../command/usage-error.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EmulatorClient } from '../lib/emulator-client.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { attempted, reportDeliveries } from './attempted.ts'
import { bulk } from './bulk.ts'
import { counted } from './counted.ts'
import { dataOf } from './data-of.ts'
import type { ReplayFlags } from './delivery-flags.ts'
import { deliveryRow } from './describe-delivery.ts'
import { filterOf } from './filter-of.ts'
import { toDeliveryId } from './to-delivery-id.ts'

/** Sends deliveries again, by id or by filter. */
export async function replayDeliveries(
  ids: readonly string[],
  flags: ReplayFlags,
  terminal: Terminal,
): Promise<number> {
  const filter = filterOf(flags)
  const options = await optionsOf(flags, terminal)
  const isBulk = flags.all === true || Object.keys(filter).length > 0
  if (ids.length > 0 === isBulk) {
    throw new UsageError('give delivery or event ids, --all, or a filter such as --type')
  }
  if (isBulk && Object.keys(options).length > 0) {
    throw new UsageError('--exact, --data, --raw-data and --body need delivery or event ids')
  }
  return withEmulator(flags, terminal, emulator =>
    isBulk
      ? replayAll(filter, flags, emulator, terminal)
      : replayEach(ids, options, flags, emulator, terminal),
  )
}

/** Returns the API's options for each replay. Without flags, the event is not edited. */
async function optionsOf(flags: ReplayFlags, terminal: Terminal): Promise<object> {
  const { body, exact } = flags
  const data = await dataOf(flags, terminal)
  const given = [exact, body, ...Object.keys(data)].filter(one => one !== undefined && one !== false)
  if (given.length > 1) throw new UsageError('give one of --exact, --data, --raw-data and --body')
  if (exact) return { mode: 'exact' }
  if (body !== undefined) return { mode: 'edited', body: await bodyIn(body, terminal) }
  return Object.keys(data).length === 0 ? {} : { mode: 'edited', ...data }
}

async function bodyIn(file: string, terminal: Terminal): Promise<string> {
  try {
    return await readText(file, terminal)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`cannot read the file of --body: ${(cause as Error).message}`, { cause })
  }
}

async function replayEach(
  ids: readonly string[],
  options: object,
  flags: ReplayFlags,
  emulator: EmulatorClient,
  terminal: Terminal,
): Promise<number> {
  const { dryRun, wait, timeout, json } = flags
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

/** Replays undelivered deliveries, unless the filter has a state. In a terminal, it first prompts with their number. */
async function replayAll(
  filter: object,
  { dryRun, json, yes }: ReplayFlags,
  emulator: EmulatorClient,
  terminal: Terminal,
): Promise<number> {
  const found = await emulator.post<BulkResult>('/deliveries/replay', { filter, dryRun: true })
  const { matched } = found
  const isAsked = !dryRun && !yes && matched > 0
  // No terminal, no confirmation: a replay loses nothing.
  if (isAsked && (await terminal.confirm(`Replay ${counted(matched)}?`)) === false) return EXIT.failed
  const label = `Replaying ${counted(matched)}`
  const done = dryRun ? 0 : await bulk('replay', filter, { emulator, terminal, label, found })
  if (json) terminal.out(JSON.stringify({ matched, replayed: done }))
  else terminal.out(dryRun ? `${matched} would be replayed` : `${done} replayed`)
  return dryRun || done >= matched ? EXIT.ok : EXIT.failed
}
