/** The type and id in a body, if it can be read. Unverified: only for display and file names. */
export function eventOf(body: Uint8Array): { readonly type?: string; readonly id?: string } {
  try {
    const { type, id } = JSON.parse(new TextDecoder().decode(body)) ?? {}
    return { ...(typeof type === 'string' && { type }), ...(typeof id === 'string' && { id }) }
  } catch {
    return {}
  }
}
