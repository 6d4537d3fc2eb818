import type { DeliveryState } from '../../../packages/emulator/src/storage/delivery-row.ts'
import type { Tone } from '../kit/badge.tsx'

/** How each state of a delivery looks, in the order of its life. */
export const STATES: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'wait',
  acknowledged: 'good',
  undelivered: 'bad',
  replayed: 'idle',
  discarded: 'idle',
  skipped: 'idle',
}
