/** Values of the ASCII hexadecimal digits; every other code is never looked up, the header's form was checked. */
const HEX_VALUE = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) {
  const lower = digit.toString(16)
  HEX_VALUE[lower.charCodeAt(0)] = digit
  HEX_VALUE[lower.toUpperCase().charCodeAt(0)] = digit
}

/**
 * Whether 64 hexadecimal digits spell the same 32 bytes as `digest` (one character a byte). Takes the same
 * time wherever the first difference stands: there is no branch on a byte of the digest, and table look-ups
 * are indexed by what the sender wrote, never by the secret side.
 */
export function equalsDigest(digest: string, hex: string): boolean {
  let difference = (digest.length ^ 32) | (hex.length ^ 64)
  for (let i = 0; i < 32; i++) {
    const high = HEX_VALUE[hex.charCodeAt(2 * i)] as number
    const low = HEX_VALUE[hex.charCodeAt(2 * i + 1)] as number
    difference |= digest.charCodeAt(i) ^ ((high << 4) | low)
  }
  return difference === 0
}
