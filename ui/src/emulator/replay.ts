import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { ReplayOptions } from '../../../packages/emulator/src/api/emulator-api.ts'
import { go } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'

/** Sends a delivery again, opens the new one, and reports it with the equivalent command. */
export function replay(id: string, options: ReplayOptions): Promise<boolean> {
  const words = ['replay', id, ...(options.mode === 'exact' ? ['--exact'] : [])]
  // The CLI reads an edited event from a file.
  const command = options.mode === 'edited' ? undefined : commandOf(words)
  return attempt(async () => {
    const fresh = await api<DeliveryView>(`deliveries/${encodeURIComponent(id)}/replay`, {
      method: 'POST',
      body: options,
    })
    go(['deliveries', fresh.id])
    return `Replayed as ${fresh.id}.`
  }, command)
}
