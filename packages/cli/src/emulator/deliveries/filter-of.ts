import type { DeliverySelection } from '@ackhook/emulator'
import type { FilterFlags } from './delivery-flags.ts'

/** The filter that the flags name; empty without any. Values are checked by the emulator. */
export function filterOf(flags: FilterFlags): DeliverySelection {
  const { workspace, category, type, state, kind, status, event, message, text, from, until } = flags
  const filter = { workspace, category, type, state, kind, status, event, message, text, from, to: until }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}
