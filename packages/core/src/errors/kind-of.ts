/**
 * Returns the kind of a value, such as `'Error'`, `'Date'` or `'Uint8Array'`, from any realm: test runners and
 * `node:vm` have their own classes, which `instanceof` does not recognize. Never throws.
 */
export function kindOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value).slice('[object '.length, -1)
  } catch {
    // A revoked proxy.
    return ''
  }
}
