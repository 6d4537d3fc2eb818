import type { EnvelopeFields } from '@ackhook/core'

/**
 * The body that carries an event, its fields named as in the receiver's `contract.fields`. Text and bytes stay what they
 * are. The type is one that TypeScript before 5.7 reads too.
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
