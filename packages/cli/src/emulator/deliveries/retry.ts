import type { DeliveryView } from '@ackhook/emulator'
import type { Terminal } from '../../terminal/terminal.ts'
import { withEmulator } from '../lib/with-emulator.ts'
import { attempted, reportDeliveries } from './attempted.ts'
import type { AwaitFlags } from './delivery-flags.ts'
import { toDeliveryId } from './to-delivery-id.ts'

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
