import type { BulkResult, DeliveryView } from '@ackhook/emulator'
import { confirmed } from '../command/confirmed.ts'
import { EXIT } from '../command/exit-codes.ts'
import { readText } from '../command/read-text.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { attempted, repliesTo, reportBatch, reportDeliveries } from './attempted.ts'
import { type EmulatorClient, withEmulator } from './client.ts'
import { counted, deliveryLines, toDeliveryId } from './deliveries.ts'
import { type AwaitFlags, type DataFlags, dataOf, type FilterFlags, filterOf } from './options.ts'

interface ReplayFlags extends FilterFlags, AwaitFlags, DataFlags {
  readonly all?: boolean
  readonly exact?: boolean
  readonly body?: string
  readonly to?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

interface DiscardFlags extends FilterFlags {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

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
  if (isBulk && 'mode' in options) {
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
  const { body, exact, to } = flags
  const data = await dataOf(flags, terminal)
  const given = [exact, body, ...Object.keys(data)].filter(one => one !== undefined && one !== false)
  if (given.length > 1) throw new UsageError('give one of --exact, --data, --raw-data and --body')
  const address = to === undefined ? {} : { to }
  if (exact) return { ...address, mode: 'exact' }
  if (body !== undefined) return { ...address, mode: 'edited', body: await bodyIn(body, terminal) }
  return Object.keys(data).length === 0 ? address : { ...address, mode: 'edited', ...data }
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
  else for (const line of deliveryLines(replayed, terminal)) terminal.out(line)
  return EXIT.ok
}

/** Replays undelivered deliveries, unless the filter has a state. In a terminal, it first prompts with their number. */
async function replayAll(
  filter: object,
  flags: ReplayFlags,
  emulator: EmulatorClient,
  terminal: Terminal,
): Promise<number> {
  const { dryRun, json, yes, to, wait, timeout } = flags
  const where = to === undefined ? {} : { to }
  const found = await emulator.post<BulkResult>('/deliveries/replay', { filter, dryRun: true, ...where })
  const { matched } = found
  const isAsked = !dryRun && !yes && matched > 0
  const what = counted(matched) + (to === undefined ? '' : ` to ${to}`)
  // No terminal, no confirmation: a replay loses nothing.
  if (isAsked && (await terminal.confirm(`Replay ${what}?`)) === false) return EXIT.failed
  const label = `Replaying ${what}`
  const body = { filter, ...where }
  const done = dryRun ? 0 : await bulk('replay', body, { emulator, terminal, label, found })
  if (!dryRun && wait && done > 0 && found.batch !== null) {
    const deliveries = await repliesTo(found.batch, done, timeout, emulator, terminal)
    return reportBatch(deliveries, matched, json, terminal)
  }
  if (json) terminal.out(JSON.stringify({ matched, replayed: done }))
  else terminal.out(dryRun ? `${matched} would be replayed` : `${done} replayed`)
  return dryRun || done >= matched ? EXIT.ok : EXIT.failed
}

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
        ? await bulk('discard', { filter }, { emulator, terminal, label, found })
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

/** Page size, small enough for a progress bar that moves. */
const PAGE = 100

interface BulkParts {
  readonly emulator: EmulatorClient
  readonly terminal: Terminal
  readonly label: string
  /** Result of a `dryRun`: what it counted is changed, and nothing that matches since. */
  readonly found: BulkResult
}

/** Replays or discards the counted deliveries page by page, until Ctrl-C. Resolves with their number. */
async function bulk(verb: 'replay' | 'discard', body: object, parts: BulkParts): Promise<number> {
  const { emulator, terminal, label, found } = parts
  const bar = terminal.progress(found.matched, label)
  let done = 0
  let after = found.next
  try {
    while (after !== null && !terminal.stop.aborted) {
      const page: BulkResult = await emulator.post(`/deliveries/${verb}`, { ...body, limit: PAGE, after })
      for (let i = 0; i < page.done; i++) bar.advance()
      done += page.done
      after = page.next
    }
  } finally {
    bar.stop()
  }
  return done
}

/** Starts the next attempt of pending deliveries now, and waits for its reply. */
export function retry(ids: readonly string[], flags: AwaitFlags, terminal: Terminal): Promise<number> {
  return withEmulator(flags, terminal, async emulator => {
    const started: DeliveryView[] = []
    for (const id of ids) {
      started.push(await emulator.post<DeliveryView>(`/deliveries/${await toDeliveryId(id, emulator)}/retry`))
    }
    const ended = flags.wait ? await attempted(started, flags.timeout, emulator, terminal) : started
    return reportDeliveries(ended, flags.json, terminal)
  })
}
