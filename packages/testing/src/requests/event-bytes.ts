import type { EnvelopeFields } from '@ackhook/core'

/**
 * Returns an event's body, with field names as in the receiver's `contract.fields`. Text and bytes are unchanged.
 * TypeScript before 5.7 can read the return type too.
 */
export function eventBytes(
  event: object | string | Uint8Array,
  fields: Partial<EnvelopeFields> = {},
): Uint8Array & { readonly buffer: ArrayBuffer } {
  if (event instanceof Uint8Array) return new Uint8Array(event)
  return new TextEncoder().encode(typeof event === 'string' ? event : JSON.stringify(renamed(event, fields)))
}

function renamed(event: object, fields: Partial<EnvelopeFields>): object {
  const names = new Map(Object.entries(fields))
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]))
}
