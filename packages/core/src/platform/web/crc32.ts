const TABLE = new Int32Array(256).map((_, index) => {
  let remainder = index
  for (let bit = 0; bit < 8; bit++)
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
  return remainder
})

/** CRC-32 (the one of zlib and PNG) of bytes, as a signed 32-bit integer. */
export function crc32(bytes: Uint8Array): number {
  let remainder = -1
  for (const byte of bytes) {
    remainder = (remainder >>> 8) ^ (TABLE[(remainder ^ byte) & 0xff] as number)
  }
  return ~remainder
}
