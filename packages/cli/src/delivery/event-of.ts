import type { EnvelopeFields } from '@ackhook/core'

/** Returns a body's type and id, if they can be read. They are unverified: use them only for display and file names. */
export function eventOf(
  body: Uint8Array,
  fields: Partial<EnvelopeFields> = {},
): { readonly type?: string; readonly id?: string } {
  try {
    const { [fields.type ?? 'type']: type, [fields.id ?? 'id']: id } =
      JSON.parse(new TextDecoder().decode(body)) ?? {}
    return { ...(typeof type === 'string' && { type }), ...(typeof id === 'string' && { id }) }
  } catch {
    return {}
  }
}
