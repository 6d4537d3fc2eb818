import type { DeliveryView } from '@ackhook/emulator'
import type { EmulatorClient } from '../lib/emulator-client.ts'

/** Returns a delivery's id unchanged, and for an event's id that of its latest delivery. */
export async function toDeliveryId(id: string, emulator: EmulatorClient): Promise<string> {
  const query = { event: id, limit: 1 }
  const { deliveries } = await emulator.get<{ deliveries: readonly DeliveryView[] }>('/deliveries', query)
  return encodeURIComponent(deliveries[0]?.id ?? id)
}
