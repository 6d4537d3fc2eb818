import type { DeliveryView } from '@ackhook/emulator'
import type { EmulatorClient } from '../lib/emulator-client.ts'

/** The id of a delivery as it is, or that of the latest delivery of an event. */
export async function toDeliveryId(id: string, emulator: EmulatorClient): Promise<string> {
  const query = { event: id, limit: 1 }
  const { deliveries } = await emulator.get<{ deliveries: readonly DeliveryView[] }>('/deliveries', query)
  return encodeURIComponent(deliveries[0]?.id ?? id)
}
