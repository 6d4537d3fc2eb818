import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { ReplayOptions } from '../../../packages/emulator/src/api/emulator-api.ts'
import { go } from '../kit/route.ts'
import { api } from './api.ts'

/** Sends a delivery again and goes to the new one. Answers what to say about it. */
export async function replay(id: string | undefined, options: ReplayOptions): Promise<string> {
  if (id === undefined) throw new Error('Choose a delivery with j and k first.')
  const fresh = await api<DeliveryView>(`deliveries/${encodeURIComponent(id)}/replay`, {
    method: 'POST',
    body: options,
  })
  go(['deliveries', fresh.id])
  return `Replayed as ${fresh.id}.`
}
