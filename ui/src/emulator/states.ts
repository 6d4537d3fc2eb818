import type { DeliveryState } from '../../../packages/emulator/src/storage/delivery-row.ts'
import type { Tone } from '../kit/elements.tsx'

/** Color of each state, in the order of a delivery's life. */
export const STATES: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'wait',
  acknowledged: 'good',
  undelivered: 'bad',
  replayed: 'idle',
  discarded: 'idle',
  skipped: 'idle',
}
