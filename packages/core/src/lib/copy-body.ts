/** Copies an object and its bytes for code that may change them: the original is parsed again. */
export function copyBody<T extends { readonly body: Uint8Array }>(one: T): T {
  return { ...one, body: new Uint8Array(one.body) }
}
