import type { DeliveryView, SentEvent } from '@ackhook/emulator'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import { readDeliveries } from '../delivery/delivery-file.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { attempted, reportDeliveries } from './attempted.ts'
import { type EmulatorClient, withEmulator } from './client.ts'
import { type AwaitFlags, type DataFlags, dataOf, type EndpointFlags, type FaultFlags } from './options.ts'

interface SendFlags extends EndpointFlags, AwaitFlags, DataFlags {
  /** Path of recorded or saved deliveries. */
  readonly fromFile?: string
  readonly id?: string
  readonly seed?: number
  readonly repeat: number
  readonly fault?: FaultFlags
}

/** Maximum number of events in one call, so that progress shows soon. */
const PAGE = 500

/** Sends events through the emulator, and waits for the receiver's first reply to each. */
export async function sendEvents(
  args: readonly string[],
  flags: SendFlags,
  terminal: Terminal,
): Promise<number> {
  const { id, repeat, json } = flags
  if (id !== undefined && repeat > 1) {
    throw new UsageError('--id gives every event the same id: to send one event twice, use --fault duplicate')
  }
  const events = await eventsOf(args[0], flags, terminal)
  return withEmulator(flags, terminal, async emulator => {
    const sent: DeliveryView[] = []
    for (const event of events) sent.push(...(await handOver(event, flags, emulator, terminal)))
    if (flags.wait)
      return reportDeliveries(await attempted(sent, flags.timeout, emulator, terminal), json, terminal)
    const ids = sent.map(one => ({ id: one.id, event: one.event, type: one.type }))
    if (json) terminal.out(JSON.stringify({ sent: sent.length, deliveries: ids }))
    else for (const one of ids) terminal.out(`${one.event}  ${one.id}`)
    return EXIT.ok
  })
}

async function eventsOf(
  type: string | undefined,
  flags: SendFlags,
  terminal: Terminal,
): Promise<readonly object[]> {
  const { fromFile, id, data, rawData } = flags
  if (fromFile === undefined) {
    if (type === undefined)
      throw new UsageError('name an event type, or recorded deliveries: --from-file <path>')
    return [{ type, ...(id && { id }), ...(await dataOf(flags, terminal)) }]
  }
  if ([type, id, data, rawData].some(one => one !== undefined))
    throw new UsageError('--from-file sends recorded events: omit the type, --id, --data and --raw-data')
  return (await readDeliveries(fromFile, terminal)).map(({ file, delivery }) => {
    const recorded = Object(JSON.parse(new TextDecoder().decode(delivery.body)))
    if (typeof recorded.type !== 'string' || typeof recorded.data !== 'object')
      throw new UsageError(`${file}: its event has no type and data of the published names`)
    return { type: recorded.type, rawData: JSON.stringify(recorded.data) }
  })
}

async function handOver(
  event: object,
  { repeat, workspace, fault, seed }: SendFlags,
  emulator: EmulatorClient,
  { stop }: Terminal,
): Promise<readonly DeliveryView[]> {
  const deliveries: DeliveryView[] = []
  for (let left = repeat; left > 0 && !stop.aborted; left -= PAGE) {
    // The seed increases, so that the events differ.
    const seedOf = (index: number) => seed !== undefined && { seed: seed + repeat - left + index }
    const events = Array.from({ length: Math.min(left, PAGE) }, (_, i) => ({ ...event, ...seedOf(i) }))
    const options = { ...(workspace && { workspace }), ...(fault && { faults: fault }) }
    const reply = await emulator.post<{ events: readonly SentEvent[] }>('/events', { events, ...options })
    deliveries.push(...reply.events.flatMap(one => one.deliveries))
  }
  return deliveries
}
