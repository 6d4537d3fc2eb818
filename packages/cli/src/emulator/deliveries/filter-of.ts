import type { DeliverySelection } from '@ackhook/emulator'
import type { FilterFlags } from './delivery-flags.ts'

/** Returns the filter given by the flags; empty if there is none. The emulator checks its values. */
export function filterOf(flags: FilterFlags): DeliverySelection {
  const { workspace, category, type, state, kind, status, event, message, text, from, until } = flags
  const filter = { workspace, category, type, state, kind, status, event, message, text, from, to: until }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}
