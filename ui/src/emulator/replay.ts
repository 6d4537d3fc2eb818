import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { ReplayOptions } from '../../../packages/emulator/src/shapes/requests.ts'
import { askFor, type Wanted } from '../kit/confirm.tsx'
import { go } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'

/** Sends a delivery again, opens the new one, and reports it with the equivalent command. */
export function replay(id: string, options: ReplayOptions): Promise<boolean> {
  const words = ['replay', id, ...(options.mode === 'exact' ? ['--exact'] : [])]
  // The CLI reads an edited event from a file.
  const command = options.mode === 'edited' ? undefined : commandOf(words, toFlag(options.to))
  return attempt(async () => {
    const fresh = await api<DeliveryView>(`deliveries/${encodeURIComponent(id)}/replay`, {
      method: 'POST',
      body: options,
    })
    go(['deliveries', fresh.id])
    return `Replayed as ${fresh.id}${fresh.to === null ? '' : ` to ${fresh.to}`}.`
  }, command)
}

/** The field for an address in a dialog about replays. */
export const TO: Wanted = {
  label: "Another address; empty for the endpoint's",
  placeholder: 'http://localhost:3001/webhooks',
}

/** Explains a replay to another address. */
export const ELSEWHERE =
  'To another address, they are signed anew with the same secret; the endpoint gets nothing, and they stay undelivered.'

/** Asks for another address, and sends a delivery there. */
export async function replayElsewhere(id: string): Promise<void> {
  const text =
    'It is signed anew with the same secret. The endpoint gets nothing, and this delivery keeps its state.'
  const question = { title: 'Replay to another address?', text, action: 'Replay', scope: undefined }
  const to = await askFor(TO, question)
  if (to !== undefined) await replay(id, to === '' ? {} : { to })
}

/** The flag for another address, if there is one. */
export function toFlag(to: string | undefined): Readonly<Record<string, string>> {
  return to === undefined ? {} : { to }
}
