/**
 * The kind of a value, such as `'Error'`, `'Date'` or `'Uint8Array'`, whatever realm made it: test runners and
 * `node:vm` have classes of their own, which `instanceof` does not know. Never throws.
 */
export function kindOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value).slice('[object '.length, -1)
  } catch {
    // A revoked proxy.
    return ''
  }
}
