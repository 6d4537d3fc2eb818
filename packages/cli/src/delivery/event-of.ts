/** What a body says of itself, as far as it can be read. Unproven: only for display and for names of files. */
export function eventOf(body: Uint8Array): { readonly type?: string; readonly id?: string } {
  try {
    const { type, id } = JSON.parse(new TextDecoder().decode(body)) ?? {}
    return { ...(typeof type === 'string' && { type }), ...(typeof id === 'string' && { id }) }
  } catch {
    return {}
  }
}
