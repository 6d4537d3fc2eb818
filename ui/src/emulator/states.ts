import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type {
  DeliveryKind,
  DeliveryMark,
  DeliveryState,
} from '../../../packages/emulator/src/shapes/requests.ts'
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

/** Every kind of delivery, with what a list calls it; an event is what it calls nothing. */
export const KINDS: Readonly<Record<DeliveryKind, string>> = {
  event: '',
  duplicate: 'duplicate',
  replay: 'replay',
}

/** Every mark, with what a list calls it. */
export const MARKS: Readonly<Record<DeliveryMark, string>> = {
  retried: 'retried',
  out_of_order: 'out of order',
  lost_reply: 'lost reply',
  answered: 'app not called',
  tampered: 'tampered',
  stale_timestamp: 'old timestamp',
  frozen_timestamp: 'same timestamp',
  dropped: 'dropped',
}

/** Returns in words what a delivery is, and what happened to it. */
export function wordsOf({ kind, marks, to, attempts }: DeliveryView): readonly string[] {
  const happened = marks.map(mark => (mark === 'retried' ? `${attempts} attempts` : MARKS[mark]))
  const words = [KINDS[kind], ...happened, to === null ? '' : 'elsewhere']
  return words.filter(word => word !== '')
}
