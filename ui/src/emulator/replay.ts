import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { ReplayOptions } from '../../../packages/emulator/src/api/emulator-api.ts'
import { go } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'

/** Sends a delivery again, goes to the new one, and says so with the command that does the same. */
export function replay(id: string, options: ReplayOptions): Promise<boolean> {
  const words = ['replay', id, ...(options.mode === 'exact' ? ['--exact'] : [])]
  // The command line takes an edited event from a file.
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
