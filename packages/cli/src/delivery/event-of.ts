import type { EnvelopeFields } from '@ackhook/core'

/** The type and id in a body, if it can be read. Unverified: only for display and file names. */
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
