/** A copy with bytes of its own, for whoever may change them: what it was copied from is parsed again. */
export function copyBody<T extends { readonly body: Uint8Array }>(one: T): T {
  return { ...one, body: new Uint8Array(one.body) }
}
